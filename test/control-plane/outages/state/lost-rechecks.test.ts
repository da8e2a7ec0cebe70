import { describe, expect, it } from "vitest";
import { kinds, tell, tellOfDown, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

/** An interval at which the next planned check is no help. */
const DAILY = { intervalMs: 86_400_000 };
const RECHECK = { isRecheck: true };

/** Lets rechecks of a location come back without a verdict, as long as they are repeated. Returns how many were. */
function loseAll(story: Story, location: string): number {
  for (let lost = 0; lost < 200; lost++) {
    story.wait(1);
    const { rechecks } = story.check(location, "unknown", RECHECK);
    if (rechecks.length === 0) return lost;
    expect(rechecks).toEqual([{ location, at: story.now + 1_000 }]);
  }
  throw new Error("rechecks are repeated without end");
}

describe("a recheck that gives no verdict", () => {
  it("is repeated a second later, until the outage is confirmed", () => {
    const story = tellOfUp({ ...DAILY, locations: ["eu"] });
    story.check("eu", "down");
    for (let lost = 0; lost < 5; lost++) {
      story.wait(1);
      expect(story.check("eu", "unknown", RECHECK)).toMatchObject({
        events: [],
        rechecks: [{ location: "eu", at: story.now + 1_000 }],
      });
    }
    story.check("eu", "down", RECHECK);
    expect(story.check("eu", "unknown", RECHECK).rechecks).toHaveLength(1);
    expect(kinds(story.check("eu", "down", RECHECK).events)).toEqual(["down!"]);
    expect(story.check("eu", "unknown", RECHECK).rechecks).toEqual([]);
  });

  it("is repeated for a minute after the failure", () => {
    const story = tellOfUp({ ...DAILY, locations: ["eu"] });
    story.check("eu", "down");
    expect(loseAll(story, "eu")).toBe(60);
  });

  it("is repeated at each location that was asked and has not answered", () => {
    const story = tellOfUp(DAILY);
    story.check("us", "down");
    story.wait(1);
    for (const location of ["eu", "us", "ap"]) {
      expect(story.check(location, "unknown", RECHECK).rechecks).toEqual([{ location, at: story.now + 1_000 }]);
    }
    story.check("eu", "up", RECHECK);
    story.check("us", "down", RECHECK);
    expect(story.check("eu", "unknown").rechecks).toEqual([]);
    expect(story.check("us", "unknown").rechecks).toEqual([]);
    expect(loseAll(story, "ap")).toBe(60);
  });

  it("is repeated also if the status was never known, and then decides it", () => {
    const story = tell(DAILY);
    story.check("us", "down");
    story.wait(1);
    expect(story.check("ap", "unknown", RECHECK).rechecks).toHaveLength(1);
    expect(kinds(story.check("ap", "down", RECHECK).events)).toEqual(["down!"]);
  });

  it("is repeated for the confirmation of a recovery", () => {
    const story = tellOfDown({ ...DAILY, locations: ["eu"], recovery: 2 });
    story.check("eu", "up");
    story.wait(1);
    expect(story.check("eu", "unknown", RECHECK).rechecks).toEqual([{ location: "eu", at: story.now + 1_000 }]);
    expect(kinds(story.check("eu", "up", RECHECK).events)).toEqual(["up!"]);
    expect(story.check("eu", "unknown", RECHECK).rechecks).toEqual([]);
  });

  it("is not repeated every second for as long as another location fails", () => {
    for (const story of [tellOfUp(DAILY), tell({ locations: ["us", "ap"] })]) {
      for (let failures = 0; failures < 3; failures++) story.check("us", "down");
      expect(story.state.status).not.toBe("down");
      expect(story.check("ap", "unknown", RECHECK).rechecks).toEqual([]);
      story.wait(2);
      expect(story.check("us", "down").rechecks).toContainEqual({ location: "ap", at: story.now });
    }
  });

  it.each([
    ["while all is well", tellOfUp(DAILY), "us"],
    ["while the monitor is down", tellOfDown(DAILY), "us"],
    ["at a location that is no longer configured", tellOfUp({ ...DAILY, locations: ["eu", "ap"] }), "us"],
    ["of a passive monitor", tellOfUp({ locations: ["us", "eu"], isPassive: true }), "us"],
  ])("is not repeated %s", (_when, story, location) => {
    if (story.settings.isPassive) story.check("eu", "down");
    expect(story.check(location, "unknown", RECHECK).rechecks).toEqual([]);
  });
});
