import { describe, expect, it } from "vitest";
import { FAULT, kinds, START, tell, tellOfDown, tellOfUp } from "#test/control-plane/outages/state/story.ts";

describe("a monitor with one location", () => {
  it("is down when the failure and two rechecks, one second apart, have failed", () => {
    const story = tellOfUp({ locations: ["eu"] });
    const first = story.check("eu", "down", { tookMs: 300 });
    expect(first.events).toEqual([]);
    expect(first.rechecks).toEqual([{ location: "eu", at: story.now + 1_000 }]);
    story.wait(1);
    const second = story.check("eu", "down", { isRecheck: true });
    expect(second.events).toEqual([]);
    expect(second.rechecks).toEqual([{ location: "eu", at: story.now + 1_000 }]);
    story.wait(1);
    const third = story.check("eu", "down", { isRecheck: true });
    const startedAt = START + 10_000 - 300;
    expect(third.events).toEqual([
      {
        kind: "down",
        at: story.now,
        startedAt,
        previous: "up",
        isNotice: true,
        failing: [{ location: "eu", fault: FAULT, since: startedAt }],
      },
    ]);
    expect(third.rechecks).toEqual([]);
    expect(story.state).toMatchObject({ status: "down", lastKnown: "down", changedAt: story.now });
  });

  it("stays up if a recheck succeeds", () => {
    const story = tellOfUp({ locations: ["eu"] });
    story.check("eu", "down");
    expect(story.check("eu", "up", { isRecheck: true })).toMatchObject({ events: [], rechecks: [] });
    story.check("eu", "down");
    story.check("eu", "down");
    expect(story.state.status).toBe("up");
  });

  it.each([0, 1, 2, 5])("with %i retries needs one failure more than that", (retries) => {
    const story = tellOfUp({ locations: ["eu"], retries });
    for (let failures = 0; failures < retries; failures++) {
      expect(story.check("eu", "down")).toMatchObject({ events: [], rechecks: [{ location: "eu" }] });
    }
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
  });

  it("is down, and not only unknown, if its first checks ever fail", () => {
    const story = tell({ locations: ["eu"], retries: 1 });
    expect(story.check("eu", "down").rechecks).toHaveLength(1);
    expect(story.state.status).toBe("unknown");
    expect(story.check("eu", "down").events).toMatchObject([{ kind: "down", previous: "unknown", isNotice: true }]);
  });

  it("does not confirm a failure with one before a long silence", () => {
    const story = tellOfUp({ locations: ["eu"] });
    story.check("eu", "down");
    story.check("eu", "down");
    story.wait(600);
    const again = story.check("eu", "down");
    expect(again.rechecks).toHaveLength(1);
    expect(story.state.locations.get("eu")).toMatchObject({ streak: 1, since: story.now });
    expect(story.state.status).not.toBe("down");
  });
});

describe("a failure at one of several locations", () => {
  it("asks the others at once, and the location again after a second", () => {
    const story = tellOfUp();
    const { rechecks } = story.check("us", "down");
    expect(rechecks).toEqual([
      { location: "eu", at: story.now },
      { location: "ap", at: story.now },
      { location: "us", at: story.now + 1_000 },
    ]);
  });

  it("does not ask a location that was checked within the last second", () => {
    const story = tellOfUp();
    story.check("eu", "up");
    story.wait(0.999);
    expect(story.check("us", "down").rechecks.map(({ location }) => location)).toEqual(["ap", "us"]);
  });

  it("asks a location that is silent, also if it failed long ago", () => {
    const story = tellOfUp();
    story.check("ap", "down");
    story.wait(130);
    story.check("eu", "up");
    story.wait(10);
    expect(story.check("us", "down").rechecks.map(({ location }) => location)).toEqual(["eu", "ap", "us"]);
  });

  it("makes the monitor down as soon as a majority fails, from the first failing check on", () => {
    const story = tellOfUp();
    story.check("us", "down");
    story.wait(0.2);
    const { events, rechecks } = story.check("ap", "down", { isRecheck: true });
    expect(events).toMatchObject([
      { kind: "down", startedAt: START + 10_000, failing: [{ location: "us" }, { location: "ap" }] },
    ]);
    expect(rechecks).toEqual([]);
  });

  it("asks once, however long it lasts", () => {
    const story = tellOfUp();
    let rechecks = 0;
    for (let minute = 0; minute < 60; minute++) {
      rechecks += story.check("us", "down").rechecks.length;
      story.wait(20);
      story.check("ap", "up");
      story.wait(20);
      story.check("eu", "up");
      story.wait(20);
    }
    expect(story.state.status).toBe("up");
    expect(rechecks).toBe(3);
  });

  it("asks those that have not answered when it fails again, a planned check later", () => {
    const story = tellOfUp({ intervalMs: 86_400_000 });
    story.check("us", "down");
    story.wait(1);
    expect(story.check("us", "down", { isRecheck: true }).rechecks).toEqual([]);
    story.check("ap", "up", { isRecheck: true });
    story.wait(86_400);
    expect(story.check("us", "down").rechecks).toEqual([{ location: "eu", at: story.now }]);
    expect(kinds(story.check("eu", "down", { isRecheck: true }).events)).toEqual(["down!"]);
  });

  it("asks again when another location begins to fail, but not the one that fails already", () => {
    const story = tellOfUp({ locations: ["eu", "us", "ap", "sa", "af"] });
    story.check("us", "down");
    story.wait(60);
    for (const location of ["eu", "ap", "sa", "af"]) story.check(location, "up");
    story.wait(2);
    expect(story.check("eu", "down").rechecks.map(({ location }) => location)).toEqual(["ap", "sa", "af", "eu"]);
  });

  it("asks again when it returns after a success", () => {
    const story = tellOfUp();
    story.check("us", "down");
    story.check("us", "up");
    story.wait(10);
    expect(story.check("us", "down").rechecks).toHaveLength(3);
  });

  it("is confirmed by the location itself if a recheck found it, because the others are already asked", () => {
    const story = tellOfUp({ locations: ["eu", "us", "ap", "sa", "af"] });
    story.check("us", "down");
    story.wait(0.5);
    expect(story.check("eu", "down", { isRecheck: true }).rechecks).toEqual([
      { location: "eu", at: story.now + 1_000 },
    ]);
  });

  it("asks nobody while the monitor is down", () => {
    const story = tellOfDown();
    story.check("us", "up");
    expect(story.check("us", "down").rechecks).toEqual([]);
  });
});

describe("the quorum of several locations", () => {
  // For each: the failing and all locations, and whether a monitor that was up is down.
  it.each([
    ["majority", 1, 2, false],
    ["majority", 2, 2, true],
    ["majority", 1, 3, false],
    ["majority", 2, 3, true],
    ["majority", 2, 4, false],
    ["majority", 3, 4, true],
    ["majority", 2, 5, false],
    ["majority", 3, 5, true],
    [1, 1, 5, true],
    [2, 1, 5, false],
    [2, 2, 5, true],
    [5, 4, 5, false],
    [5, 5, 5, true],
  ] as const)("%s: %i of %i failing is down: %s", (quorum, failing, all, isDown) => {
    const locations = ["a", "b", "c", "d", "e"].slice(0, all);
    const story = tellOfUp({ locations, quorum });
    for (const location of locations.slice(0, failing)) {
      story.check(location, "down");
      if (quorum === 1) story.check(location, "down", { isRecheck: true });
    }
    expect(story.state.status).toBe(isDown ? "down" : "up");
  });

  it("larger than the number of fresh locations means all of them", () => {
    const story = tellOfUp({ quorum: 3 });
    story.wait(120);
    story.check("eu", "up");
    story.check("us", "up");
    story.wait(20);
    story.check("eu", "down");
    expect(story.state.status).toBe("up");
    story.check("us", "down");
    expect(story.state.status).toBe("down");
  });

  it("of one is met by a failure that the location itself has confirmed, a second later", () => {
    const story = tellOfUp({ quorum: 1 });
    const first = story.check("eu", "down");
    expect(first.events).toEqual([]);
    expect(first.rechecks).toContainEqual({ location: "eu", at: story.now + 1_000 });
    story.wait(1);
    expect(story.checkAll({ us: "up", ap: "up" })).toEqual([]);
    const second = story.check("eu", "down", { isRecheck: true });
    expect(kinds(second.events)).toEqual(["down!"]);
    expect(second.rechecks).toEqual([]);
  });

  it("of one is not met by a failure that the location does not confirm", () => {
    const story = tellOfUp({ quorum: 1 });
    story.check("eu", "down");
    expect(story.check("eu", "up", { isRecheck: true }).events).toEqual([]);
    expect(story.check("us", "down").events).toEqual([]);
    expect(story.state.status).toBe("up");
  });

  it("of one keeps a monitor down while that one location fails, although a majority is up", () => {
    const story = tellOfUp({ quorum: 1 });
    story.check("eu", "down");
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
    story.wait(20);
    expect(story.checkAll({ us: "up", ap: "up", eu: "down" })).toEqual([]);
    expect(kinds(story.checkAll({ eu: "up" }))).toEqual(["up!"]);
  });

  it("is not met by an even split, which changes nothing in any status", () => {
    const locations = ["a", "b", "c", "d"];
    const split = { a: "down", b: "up", c: "down", d: "up" } as const;
    const up = tellOfUp({ locations });
    up.checkAll(split);
    expect(up.state.status).toBe("up");
    const down = tellOfDown({ locations });
    down.checkAll(split);
    expect(down.state.status).toBe("down");
    const unknown = tell({ locations: ["a", "b"] });
    unknown.checkAll({ a: "down", b: "up" });
    expect(unknown.state.status).toBe("unknown");
  });
});

describe("a passive monitor", () => {
  // For each: settings, the status before, and the observations that follow it.
  it.each([
    ["a failure that is not confirmed", { locations: ["ping"], retries: 2 }, "up", ["down", "down"]],
    ["a recovery that is not confirmed", { locations: ["ping"], recovery: 3 }, "down", ["up", "up"]],
    ["a failure of one of several locations", { locations: ["a", "b", "c"] }, "up", ["down"]],
  ] as const)("plans no rechecks after %s", (_what, settings, status, verdicts) => {
    const story = (status === "up" ? tellOfUp : tellOfDown)({ ...settings, isPassive: true });
    const [location = ""] = settings.locations;
    for (const verdict of verdicts) expect(story.check(location, verdict).rechecks).toEqual([]);
    expect(story.state.status).toBe(status);
  });
});
