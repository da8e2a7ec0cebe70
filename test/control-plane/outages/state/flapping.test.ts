import { describe, expect, it } from "vitest";
import { kinds, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

/** Goes down and up until the monitor has changed that often. A minute passes after each change. */
function change(story: Story, times: number): readonly string[] {
  const seen: string[] = [];
  for (let done = 0; done < times; done++) {
    const verdict = story.state.status === "up" ? "down" : "up";
    for (let checks = 0; checks < 3; checks++) {
      for (const location of story.settings.locations) seen.push(...kinds(story.check(location, verdict).events));
    }
    // Its callers note that people were notified.
    if (story.state.isFlapping) story.state = { ...story.state, flappingNotifiedAt: story.now };
    story.wait(60);
  }
  return seen.filter((kind) => kind !== "flapping_notice");
}

describe("a monitor that changes between up and down", () => {
  it("four times in an hour is not flapping, five times is, with one event", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 0 });
    expect(change(story, 4)).toEqual(["down!", "up!", "down!", "up!"]);
    expect(story.state.isFlapping).toBe(false);
    expect(change(story, 1)).toEqual(["down!", "flapping"]);
    expect(change(story, 3)).toEqual(["up!", "down!", "up!"]);
    expect(story.state.isFlapping).toBe(true);
  });

  it("is no longer flapping when fewer changes lie within the last hour", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 0, intervalMs: 86_400_000 });
    change(story, 5);
    story.wait(3_600 - 5 * 60 - 1);
    expect(kinds(story.expire().events)).not.toContain("flapping");
    story.wait(1);
    expect(story.expire().events).toEqual([
      { kind: "flapping", at: story.now, isFlapping: false },
      { kind: "flapping_notice", at: story.now, phase: "ends" },
    ]);
  });

  it("counts a change over an unknown status once, and the first known status not at all", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 0 });
    expect(story.state.changes).toEqual([]);
    story.check("eu", "down");
    story.wait(600);
    story.expire();
    story.check("eu", "down");
    expect(story.state.changes).toHaveLength(1);
    story.wait(600);
    story.expire();
    story.check("eu", "up");
    expect(story.state.changes).toHaveLength(2);
  });

  it("remembers no more changes than it needs", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 0 });
    change(story, 40);
    expect(story.state.changes).toHaveLength(5);
  });
});

describe("a flapping monitor", () => {
  it("with one location needs three failures, however few retries are set", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 0 });
    change(story, 6);
    expect(story.check("eu", "down").rechecks).toHaveLength(1);
    expect(story.check("eu", "down").rechecks).toHaveLength(1);
    expect(story.state.status).toBe("up");
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
  });

  // For each: the retries of a passive monitor, and the failures that make it down while it is flapping.
  it.each([
    [0, 1],
    [1, 2],
    [3, 4],
  ])("that is passive, with %i retries, still needs %i failures: nobody can ask for more", (retries, failures) => {
    const story = tellOfUp({ locations: ["ping"], isPassive: true });
    change(story, 6);
    expect(story.state).toMatchObject({ isFlapping: true, status: "up" });
    story.change({ retries });
    for (let seen = 1; seen < failures; seen++) expect(story.check("ping", "down").events).toEqual([]);
    expect(kinds(story.check("ping", "down").events)).toEqual(["down!"]);
  });

  it("keeps more retries than that", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 4 });
    story.state = { ...story.state, changes: Array.from({ length: 5 }, () => story.now), isFlapping: true };
    story.state = { ...story.state, flappingNotifiedAt: story.now };
    for (let failures = 0; failures < 4; failures++) expect(story.check("eu", "down").events).toEqual([]);
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
  });

  it("with several locations needs three failures of each, and asks for them a second apart", () => {
    const story = tellOfUp();
    change(story, 6);
    expect(story.state).toMatchObject({ status: "up", isFlapping: true });
    const asked = (location: string, isRecheck: boolean) =>
      story.check(location, "down", { isRecheck }).rechecks.map((recheck) => recheck.location);
    expect(asked("eu", false)).toEqual(["us", "ap", "eu"]);
    expect(asked("us", true)).toEqual(["us"]);
    expect(asked("ap", true)).toEqual(["ap"]);
    story.wait(1);
    expect(asked("eu", true)).toEqual(["eu"]);
    expect(asked("us", true)).toEqual(["us"]);
    story.wait(1);
    expect(asked("eu", true)).toEqual([]);
    expect(story.state.status).toBe("up");
    expect(kinds(story.check("us", "down", { isRecheck: true }).events)).toEqual(["down!"]);
  });

  it("asks locations that succeed once for each confirmation", () => {
    const story = tellOfUp();
    change(story, 6);
    const asked: string[] = [];
    for (let failures = 0; failures < 10; failures++) {
      asked.push(...story.check("eu", "down", { isRecheck: failures > 0 }).rechecks.map(({ location }) => location));
      story.wait(1);
      story.checkAll({ us: "up", ap: "up" });
      story.wait(1);
    }
    expect(asked).toEqual(["us", "ap", "eu", "us", "ap", "eu"]);
  });
});
