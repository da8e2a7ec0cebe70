import { describe, expect, it } from "vitest";
import { kinds, START, tell, tellOfDown, tellOfUp } from "#test/control-plane/outages/state/story.ts";

describe("a monitor that was down", () => {
  it("is up again with the first success of its only location", () => {
    const story = tellOfDown({ locations: ["eu"] });
    const { events, rechecks } = story.check("eu", "up", { tookMs: 200 });
    expect(events).toEqual([
      { kind: "up", at: story.now, recoveredAt: story.now - 200, previous: "down", isNotice: true },
    ]);
    expect(rechecks).toEqual([]);
    expect(story.state).toMatchObject({ status: "up", lastKnown: "up", knownSince: story.now - 200 });
  });

  it("is up again when a strict majority succeeds, since the first success of the recovery", () => {
    const story = tellOfDown();
    expect(story.check("eu", "up").events).toMatchObject([{ kind: "failing" }]);
    const recoveredAt = story.now;
    story.wait(20);
    expect(story.check("ap", "up").events).toMatchObject([{ kind: "up", recoveredAt, isNotice: true }]);
  });

  it("asks its other locations at once with its first good check, as a failing one does, and only once", () => {
    const story = tellOfDown({ locations: ["a", "b", "c", "d", "e"] });
    const asked = ["b", "c", "d", "e"].map((location) => ({ location, at: story.now }));
    expect(story.check("a", "up").rechecks).toEqual(asked);
    expect(story.check("b", "up", { isRecheck: true }).rechecks).toEqual([]);
    story.wait(60);
    expect(story.check("a", "up").rechecks).toEqual([]);
  });

  it("asks those that still fail also if the first good check ends the outage", () => {
    const story = tellOfUp();
    story.checkAll({ eu: "down", us: "down" });
    story.wait(50);
    const { events, rechecks } = story.check("eu", "up");
    expect(kinds(events)).toEqual(["up!"]);
    expect(rechecks).toEqual([{ location: "us", at: story.now }]);
  });

  it("asks nothing of locations that were good all the time, or were checked a moment ago", () => {
    const story = tellOfUp({ locations: ["a", "b", "c", "d", "e"] });
    story.checkAll({ a: "down", b: "down", c: "down" });
    story.wait(50);
    story.check("c", "down");
    expect(story.check("a", "up").rechecks).toEqual([{ location: "b", at: story.now }]);
  });

  it("recovered with the first good check after the last failing one, not with a good one before that", () => {
    const story = tellOfDown();
    story.wait(246);
    story.check("eu", "up");
    story.wait(20);
    expect(story.check("us", "down").events).toEqual([]);
    story.wait(20);
    const recoveredAt = story.now;
    expect(story.check("us", "up").events).toMatchObject([{ kind: "up", recoveredAt, isNotice: true }]);
    expect(story.state.knownSince).toBe(recoveredAt);
  });

  it("recovered with a later good check of the location that was good first, if that is the first after it", () => {
    const story = tellOfDown({ locations: ["a", "b", "c", "d", "e"] });
    story.check("a", "up");
    story.wait(20);
    story.check("b", "down");
    story.wait(40);
    const recoveredAt = story.now;
    story.check("a", "up");
    story.wait(5);
    story.check("b", "up");
    story.wait(5);
    expect(story.check("c", "up").events).toMatchObject([{ kind: "up", recoveredAt }]);
  });

  it("recovers now if a check that failed began after its good ones, and ended before them", () => {
    const story = tellOfDown();
    story.check("eu", "up", { tookMs: 5_000 });
    story.check("ap", "down", { tookMs: 100 });
    const [end] = story.check("us", "up", { tookMs: 9_000 }).events;
    expect(end).toMatchObject({ kind: "up", recoveredAt: story.now });
  });

  it("did not recover before it was down, although a location was up all the time", () => {
    const story = tellOfUp();
    story.checkAll({ eu: "down", us: "down" });
    story.wait(50);
    expect(story.check("eu", "up").events).toMatchObject([{ kind: "up", recoveredAt: story.now }]);
  });

  it("recovers now if the failing locations fell silent", () => {
    const story = tellOfUp({ locations: ["a", "b", "c", "d", "e"] });
    story.checkAll({ a: "down", b: "down", c: "down" });
    story.wait(100);
    story.checkAll({ c: "down", d: "up", e: "up" });
    expect(story.state.status).toBe("down");
    story.wait(40);
    expect(story.check("d", "up").events).toMatchObject([{ kind: "up", recoveredAt: story.now }]);
  });

  it("is rechecked each second until it has recovered as often as wanted", () => {
    const story = tellOfDown({ locations: ["eu"], recovery: 3 });
    const recoveredAt = story.now;
    for (let successes = 1; successes < 3; successes++) {
      const { events, rechecks } = story.check("eu", "up");
      expect(events).toMatchObject(successes === 1 ? [{ kind: "failing", failing: [] }] : []);
      expect(rechecks).toEqual([{ location: "eu", at: story.now + 1_000 }]);
      story.wait(1);
    }
    const { events, rechecks } = story.check("eu", "up");
    expect(events).toMatchObject([{ kind: "up", recoveredAt }]);
    expect(rechecks).toEqual([]);
  });

  it("needs all the successes again after a failure between them", () => {
    const story = tellOfDown({ locations: ["eu"], recovery: 2 });
    story.check("eu", "up");
    story.check("eu", "down");
    story.check("eu", "up");
    expect(story.state.status).toBe("down");
    expect(kinds(story.check("eu", "up").events)).toEqual(["up!"]);
  });

  it("needs each location of the majority to recover as often as wanted", () => {
    const story = tellOfDown({ recovery: 2 });
    story.checkAll({ eu: "up", us: "up", ap: "up" });
    expect(story.state.status).toBe("down");
    story.check("eu", "up");
    expect(story.state.status).toBe("down");
    expect(kinds(story.check("us", "up").events)).toContain("up!");
  });

  it("needs them also if its status was unknown between", () => {
    const story = tellOfDown({ locations: ["eu"], recovery: 2 });
    story.wait(600);
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
    expect(story.check("eu", "up")).toMatchObject({ events: [], rechecks: [{ location: "eu" }] });
    expect(kinds(story.check("eu", "up").events)).toEqual(["up!"]);
  });
});

describe("the start of an outage", () => {
  it("is not that of a location that failed alone while the monitor was up", () => {
    const story = tellOfUp();
    for (let minute = 0; minute < 30; minute++) {
      story.checkAll({ eu: "down", us: "up", ap: "up" });
      story.wait(60);
    }
    const startedAt = story.now;
    expect(story.check("us", "down").events).toMatchObject([{ kind: "down", startedAt }]);
  });

  it("is the newest failing check if only such locations confirm it, because others fell silent", () => {
    const story = tellOfUp({ locations: ["a", "b", "c", "d"] });
    for (let minute = 0; minute < 5; minute++) {
      story.checkAll({ a: "down", b: "down", c: "up", d: "up" });
      story.wait(60);
    }
    story.check("d", "up");
    story.wait(50);
    story.checkAll({ a: "down", b: "down" });
    const startedAt = story.now;
    story.wait(30);
    expect(story.check("d", "up").events).toMatchObject([{ kind: "down", startedAt }]);
  });

  it("is not before the end of the outage before it", () => {
    const story = tellOfUp();
    story.checkAll({ eu: "down", us: "down" });
    story.wait(10);
    const recoveredAt = story.now;
    expect(story.check("us", "up").events).toMatchObject([{ kind: "up", recoveredAt }]);
    story.wait(10);
    expect(story.check("ap", "down").events).toMatchObject([{ kind: "down", startedAt: recoveredAt }]);
  });

  it("is the first failing check, also if the status was unknown since", () => {
    const story = tellOfUp();
    story.wait(120);
    story.check("eu", "down");
    const startedAt = story.now;
    story.wait(20);
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
    expect(story.check("us", "down").events).toMatchObject([{ kind: "down", startedAt, previous: "unknown" }]);
  });
});

describe("the first known status", () => {
  it("is up, without a notice, when a strict majority of two or more is", () => {
    const story = tell();
    expect(story.check("eu", "up").events).toEqual([]);
    expect(story.state.status).toBe("unknown");
    story.wait(5);
    expect(story.check("us", "up").events).toEqual([
      { kind: "up", at: story.now, recoveredAt: START, previous: "unknown", isNotice: false },
    ]);
  });

  it("is up with the first success, however many a recovery needs", () => {
    expect(kinds(tell({ locations: ["eu"], recovery: 5 }).check("eu", "up").events)).toEqual(["up"]);
  });
});
