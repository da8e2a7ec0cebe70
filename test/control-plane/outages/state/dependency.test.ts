import { describe, expect, it } from "vitest";
import { judgeDependency } from "#control-plane/outages/state/notices.ts";
import { tellOfDown, tellOfUp } from "#test/control-plane/outages/state/story.ts";

const judge = (story: ReturnType<typeof tellOfUp>, dueInMs: number | null = 30_000, isChecked = false) =>
  judgeDependency({ state: story.state, isChecked, dueAt: dueInMs === null ? null : story.now + dueInMs }, story.now);

describe("the monitor that another one depends on", () => {
  it("is down from the confirmation on, and failing before it", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 2 });
    expect(judge(story)).toBe("fine");
    for (const expected of ["failing", "failing", "down"]) {
      story.check("eu", "down");
      expect(judge(story)).toBe(expected);
    }
    expect(judge(tellOfDown())).toBe("down");
  });

  it("is due while it is checked or will be within ten seconds", () => {
    const story = tellOfUp();
    expect(judge(story, 10_000)).toBe("due");
    expect(judge(story, -5_000)).toBe("due");
    expect(judge(story, 10_001)).toBe("fine");
    expect(judge(story, 30_000, true)).toBe("due");
    expect(judge(story, null)).toBe("fine");
  });

  it("is fine if one location keeps failing sole, or failed a minute ago and confirmed nothing", () => {
    const sole = tellOfUp();
    for (let failures = 0; failures < 3; failures++) {
      sole.check("us", "down");
      sole.check("eu", "up");
      sole.check("ap", "up");
    }
    expect(sole.state.failing).toEqual(["us"]);
    expect(judge(sole)).toBe("fine");
    const once = tellOfUp();
    once.check("us", "down");
    expect(judge(once)).toBe("failing");
    once.wait(61);
    expect(judge(once)).toBe("fine");
  });
});
