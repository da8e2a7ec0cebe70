import { describe, expect, it } from "vitest";
import { FAULT, kinds, START, tell, tellOfDown, tellOfUp } from "#test/control-plane/outages/state/story.ts";

describe("a verdict", () => {
  it("counts for two intervals and a timeout", () => {
    const story = tell({ locations: ["eu"] });
    story.check("eu", "up");
    story.wait(135);
    expect(story.expire().events).toEqual([]);
    story.wait(0.001);
    expect(story.expire().events).toEqual([{ kind: "unknown", at: story.now, previous: "up", silent: ["eu"] }]);
    expect(story.state.status).toBe("unknown");
  });

  it.each([
    ["an hour", 3_600],
    ["a year", 365 * 86_400],
  ])("of a passive monitor counts after %s as on the first day, and continues its streak", (_what, seconds) => {
    for (const verdict of ["up", "down"] as const) {
      const story = tell({ locations: ["ping"], retries: 1, isPassive: true });
      story.check("ping", verdict);
      story.check("ping", verdict);
      expect(story.state.status).toBe(verdict);
      story.wait(seconds);
      expect(story.expire().events).toEqual([]);
      expect(story.check("ping", verdict).events).toEqual([]);
      expect(story.state.locations.get("ping")).toMatchObject({ streak: 3, since: START });
    }
  });

  it("is not changed by a check that a probe could not make: such a check only lets time pass", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 1 });
    story.check("eu", "down");
    const before = story.state.locations;
    expect(story.check("eu", "unknown").events).toEqual([]);
    expect(story.state.locations).toEqual(before);
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
    story.wait(200);
    expect(kinds(story.check("eu", "unknown").events)).toEqual(["unknown"]);
  });

  it("is gone at once when the target answers with what cannot be judged, such as a page without a picture", () => {
    const story = tellOfUp({ locations: ["eu"] });
    const { events } = story.check("eu", "unknown", { fault: FAULT });
    expect(events).toEqual([{ kind: "unknown", at: story.now, previous: "up", silent: ["eu"] }]);
    expect(story.check("eu", "unknown", { fault: FAULT }).events).toEqual([]);
    expect(kinds(story.check("eu", "up").events)).toEqual(["up"]);
    // A check that began before the newest verdict says nothing.
    expect(story.check("eu", "unknown", { fault: FAULT, tookMs: 60_000 }).events).toEqual([]);
    expect(story.state.status).toBe("up");
  });

  it("of other locations counts when one of them has nothing to judge", () => {
    const story = tellOfUp();
    expect(story.check("eu", "unknown", { fault: FAULT }).events).toEqual([]);
    expect(story.state.status).toBe("up");
    expect(kinds(story.check("us", "unknown", { fault: FAULT }).events)).toEqual(["unknown"]);
  });

  it("is not overwritten by that of an earlier check that arrives late", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 0 });
    story.check("eu", "up", { tookMs: 100 });
    expect(story.check("eu", "down", { tookMs: 101 }).events).toEqual([]);
    expect(story.state.locations.get("eu")).toMatchObject({ verdict: "up", at: story.now - 100, streak: 2 });
  });

  it("counts in the order of arrival if two checks began in the same millisecond", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 1 });
    expect(story.check("eu", "down").events).toEqual([]);
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
    expect(kinds(story.check("eu", "up").events)).toEqual(["up!"]);
  });

  it("of a location that is no longer configured neither counts nor is kept", () => {
    const story = tellOfUp({ retries: 0 });
    story.checkAll({ us: "down" });
    story.change({ locations: ["eu", "ap", "sa"] });
    expect(story.check("us", "down")).toMatchObject({ events: [], rechecks: [] });
    expect([...story.state.locations.keys()]).toEqual(["eu", "ap"]);
    expect(story.state.status).toBe("up");
  });

  it("belongs to its location, also if that has a name of JavaScript's own", () => {
    const story = tell({ locations: ["constructor", "__proto__"] });
    expect(story.check("constructor", "up").events).toEqual([]);
    expect(kinds(story.check("__proto__", "up").events)).toEqual(["up"]);
  });
});

describe("several locations of which fewer than two are fresh", () => {
  it("make the status unknown, and name those that are silent", () => {
    const story = tellOfUp();
    story.wait(100);
    story.check("us", "up");
    story.wait(50);
    expect(story.expire().events).toEqual([{ kind: "unknown", at: story.now, previous: "up", silent: ["eu", "ap"] }]);
  });

  it("never make it down or up", () => {
    for (const quorum of ["majority", 1] as const) {
      const story = tell({ quorum });
      for (let checks = 0; checks < 10; checks++) expect(story.check("us", "down").events).toEqual([]);
      for (let checks = 0; checks < 10; checks++) expect(story.check("us", "up").events).toEqual([]);
    }
  });
});

describe("events compare with the last known status", () => {
  const silence = (story: ReturnType<typeof tell>) => {
    story.wait(600);
    return kinds(story.expire().events);
  };

  it("never known, up: no notice", () => {
    expect(kinds(tell({ locations: ["eu"] }).check("eu", "up").events)).toEqual(["up"]);
  });

  it("never known, down: a notice", () => {
    expect(kinds(tell({ locations: ["eu"], retries: 0 }).check("eu", "down").events)).toEqual(["down!"]);
  });

  it("up, unknown, up: no notice", () => {
    const story = tellOfUp({ locations: ["eu"] });
    expect(silence(story)).toEqual(["unknown"]);
    expect(kinds(story.check("eu", "up").events)).toEqual(["up"]);
    expect(story.state.knownSince).toBe(START);
  });

  it("down, unknown, up: the notice of the recovery", () => {
    const story = tellOfDown({ locations: ["eu"] });
    expect(silence(story)).toEqual(["unknown"]);
    expect(story.check("eu", "up").events).toMatchObject([{ kind: "up", previous: "unknown", isNotice: true }]);
  });

  it("up, unknown, down: a notice, once", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 0 });
    silence(story);
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
    expect(kinds(story.check("eu", "down").events)).toEqual([]);
  });

  it("down, unknown, down: no second notice; the outage and its incident go on", () => {
    const story = tellOfDown({ locations: ["eu"], retries: 0 });
    story.state = { ...story.state, incidentId: 7 };
    const startedAt = story.state.knownSince;
    silence(story);
    expect(story.state.incidentId).toBe(7);
    expect(story.check("eu", "down").events).toMatchObject([{ kind: "down", isNotice: false, startedAt }]);
    expect(story.state.incidentId).toBe(7);
    story.check("eu", "up");
    expect(story.state.incidentId).toBeNull();
  });
});

describe("a step of the clock", () => {
  it.each([-3_600, 3_600, -86_400, 86_400, -1, 1])("of %i s makes no monitor down", (seconds) => {
    for (const locations of [["eu"], ["eu", "us", "ap"]]) {
      const story = tellOfUp({ locations, retries: 0 });
      story.wait(seconds);
      for (let round = 0; round < 3; round++) {
        for (const location of locations) expect(kinds(story.check(location, "up").events)).not.toContain("down!");
        story.wait(20);
      }
      expect(story.state.status).toBe("up");
    }
  });

  it("of an hour back does not make a monitor lose its locations for an hour", () => {
    const story = tellOfUp({ locations: ["eu"] });
    story.wait(-3_600);
    for (let failures = 0; failures < 2; failures++) {
      expect(story.check("eu", "down", { tookMs: 20 }).events).toEqual([]);
      story.wait(1);
    }
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
    story.wait(-3_600);
    expect(kinds(story.check("eu", "up").events)).toEqual(["up!"]);
  });

  it("back during a check makes the check begin now", () => {
    const story = tellOfUp({ locations: ["eu"] });
    story.check("eu", "up", { tookMs: -3_600_000 });
    expect(story.state.locations.get("eu")?.at).toBe(story.now);
  });

  it("of an hour back lets no verdict count longer than from then on", () => {
    const story = tellOfUp();
    story.wait(-3_600);
    story.expire();
    story.wait(136);
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
  });

  it("leaves all times in order", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 1 });
    story.check("eu", "down");
    story.wait(-3_600);
    const [event] = story.check("eu", "down", { tookMs: 500 }).events;
    expect(event).toMatchObject({ kind: "down", at: story.now, startedAt: story.now });
    expect(story.state.locations.get("eu")).toMatchObject({ since: story.now - 500, at: story.now - 500, streak: 2 });
    story.wait(-10);
    expect(story.check("eu", "up").events).toMatchObject([{ kind: "up", recoveredAt: story.now }]);
  });

  it("of an hour forward makes a monitor unknown until enough locations are checked again", () => {
    const story = tellOfUp();
    story.wait(3_600);
    expect(kinds(story.check("eu", "up").events)).toEqual(["unknown"]);
    expect(kinds(story.check("us", "up").events)).toEqual(["up"]);
  });
});
