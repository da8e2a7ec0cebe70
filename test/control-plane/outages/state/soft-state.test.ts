import { describe, expect, it } from "vitest";
import { describeAdvisory } from "#control-plane/outages/state/votes.ts";
import { FAULT, kinds, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

/** Planned checks of a location fail, and pass on the re-check a second later. Returns the kinds of all events. */
function failFirst(story: Story, location: string, times: number): readonly string[] {
  return Array.from({ length: times }, () => {
    const { events } = story.check(location, "down");
    story.wait(1);
    const passed = story.check(location, "up", { isRecheck: true });
    story.wait(59);
    return kinds([...events, ...passed.events]);
  }).flat();
}

/** Checks of the other locations, which are good. */
function others(story: Story): void {
  story.checkAll({ us: "up", ap: "up" });
}

describe("a soft state: planned checks that fail and pass on the re-check", () => {
  it("is an advisory of a single location with the third in a row", () => {
    const story = tellOfUp({ locations: ["eu"] });
    const since = story.now;
    expect(failFirst(story, "eu", 2)).toEqual([]);
    expect(describeAdvisory(story.state)).toBeNull();
    expect(failFirst(story, "eu", 4)).toEqual(["soft_state"]);
    expect(story.state).toMatchObject({ status: "up", unsteady: ["eu"], isDegraded: false });
    expect(describeAdvisory(story.state)).toEqual({
      since: new Date(since),
      locations: ["eu"],
      message: "The first try fails each time in eu, 6 times in a row: refused",
    });
  });

  it("is one of a location among several, while it is re-checked too", () => {
    const story = tellOfUp();
    for (let minute = 0; minute < 3; minute++) {
      others(story);
      failFirst(story, "eu", 1);
    }
    expect(story.state.unsteady).toEqual(["eu"]);
    expect(kinds(story.check("eu", "down").events)).toEqual([]);
    expect(describeAdvisory(story.state)?.message).toContain("3 times in a row");
  });

  it("ends with a planned check that is good", () => {
    const story = tellOfUp({ locations: ["eu"] });
    failFirst(story, "eu", 3);
    expect(story.check("eu", "up").events).toMatchObject([{ kind: "soft_state", failing: [], isNew: false }]);
    story.wait(60);
    expect(failFirst(story, "eu", 2)).toEqual([]);
  });

  it("ends if the failure lasts until the next planned check: the location keeps failing", () => {
    const story = tellOfUp();
    for (let minute = 0; minute < 3; minute++) {
      others(story);
      failFirst(story, "eu", 1);
    }
    others(story);
    story.check("eu", "down");
    story.wait(1);
    expect(kinds(story.check("eu", "down", { isRecheck: true }).events)).toEqual([]);
    story.wait(59);
    expect(kinds(story.check("eu", "down").events)).toEqual(["advisory", "soft_state"]);
    expect(story.state).toMatchObject({ failing: ["eu"], unsteady: [] });
  });

  it("counts neither re-checks that other locations asked for, nor checks before a silence or an outage", () => {
    const story = tellOfUp();
    for (let minute = 0; minute < 9; minute++) {
      others(story);
      story.check("eu", "down", { isRecheck: true });
      story.check("eu", "up", { isRecheck: true });
      story.wait(60);
    }
    const single = tellOfUp({ locations: ["eu"] });
    failFirst(single, "eu", 2);
    single.wait(600);
    failFirst(single, "eu", 2);
    single.check("eu", "down");
    single.check("eu", "down", { isRecheck: true });
    expect(kinds(single.check("eu", "down", { isRecheck: true }).events)).toContain("down!");
    expect(kinds(single.check("eu", "up").events)).toContain("up!");
    single.wait(60);
    expect([story.state.unsteady, single.state.unsteady]).toEqual([[], []]);
    expect(failFirst(single, "eu", 2)).toEqual([]);
  });

  it("makes a monitor degraded that has a limit of speed, until its checks are quick again", () => {
    const story = tellOfUp({ locations: ["eu"], degradedMs: 500 });
    expect(failFirst(story, "eu", 2)).toEqual([]);
    story.check("eu", "down");
    const { events } = story.check("eu", "up", { isRecheck: true });
    expect(events).toMatchObject([
      { kind: "soft_state", failing: [{ location: "eu", fault: FAULT }] },
      { kind: "degraded", responseMs: null },
    ]);
    story.wait(60);
    expect(failFirst(story, "eu", 5)).toEqual([]);
    expect(kinds([1, 2, 3].flatMap(() => story.check("eu", "up").events))).toEqual(["soft_state", "recovered_speed"]);
    expect(story.state.isDegraded).toBe(false);
  });
});
