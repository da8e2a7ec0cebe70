import { describe, expect, it } from "vitest";
import { kinds, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

const SLOW = { responseMs: 501 };
const QUICK = { responseMs: 500 };
const begin = (locations = ["eu"]) => tellOfUp({ locations, degradedMs: 500, retries: 0 });

function makeDegraded(story: Story): void {
  for (let checks = 0; checks < 3; checks++) story.check("eu", "up", SLOW);
  expect(story.state.isDegraded).toBe(true);
}

describe("a monitor that is up", () => {
  it("is degraded with the third slow check in a row, with one event", () => {
    const story = begin();
    expect(story.check("eu", "up", SLOW).events).toEqual([]);
    expect(story.check("eu", "up", SLOW).events).toEqual([]);
    expect(story.check("eu", "up", SLOW).events).toEqual([{ kind: "degraded", at: story.now, responseMs: 501 }]);
    for (let checks = 0; checks < 9; checks++) expect(story.check("eu", "up", SLOW).events).toEqual([]);
    expect(story.state).toMatchObject({ status: "up", isDegraded: true });
  });

  it("is no longer degraded with the third check in a row that is quick enough", () => {
    const story = begin();
    makeDegraded(story);
    story.check("eu", "up", QUICK);
    story.check("eu", "up", QUICK);
    story.check("eu", "up", SLOW);
    story.check("eu", "up", QUICK);
    expect(story.check("eu", "up", QUICK).events).toEqual([]);
    expect(story.check("eu", "up", QUICK).events).toEqual([{ kind: "recovered_speed", at: story.now }]);
    expect(story.check("eu", "up", QUICK).events).toEqual([]);
  });

  it("is not degraded by slow checks with a quick one between", () => {
    const story = begin();
    for (let checks = 0; checks < 20; checks++) {
      expect(story.check("eu", "up", checks % 3 === 2 ? QUICK : SLOW).events).toEqual([]);
    }
  });

  it("counts the checks of all its locations in their order", () => {
    const story = begin(["eu", "us", "ap"]);
    story.check("eu", "up", SLOW);
    story.check("us", "up", SLOW);
    expect(kinds(story.check("ap", "up", SLOW).events)).toEqual(["degraded"]);
  });

  it("counts no rechecks, failures, probe faults, late arrivals and answers without a time", () => {
    const story = begin(["eu", "us", "ap"]);
    story.check("eu", "up", SLOW);
    story.check("eu", "up", SLOW);
    story.check("us", "up", { ...SLOW, isRecheck: true });
    story.check("us", "down");
    story.check("us", "unknown");
    story.check("eu", "up", { responseMs: null });
    story.check("eu", "up", { ...QUICK, tookMs: 5_000 });
    expect(story.state.isDegraded).toBe(false);
    expect(kinds(story.check("eu", "up", SLOW).events)).toEqual(["degraded"]);
  });

  it("is no longer degraded when its user removes the limit", () => {
    const story = begin();
    makeDegraded(story);
    story.change({ degradedMs: null });
    expect(kinds(story.check("eu", "up", SLOW).events)).toEqual(["recovered_speed"]);
  });

  it("begins to count when its status is known", () => {
    const story = begin();
    story.check("eu", "down");
    for (let checks = 0; checks < 2; checks++) story.check("eu", "up", SLOW);
    expect(story.state.isDegraded).toBe(false);
    expect(kinds(story.check("eu", "up", SLOW).events)).toEqual(["degraded"]);
  });
});

describe("a degraded monitor", () => {
  it("that is down is no longer degraded, without an event", () => {
    const story = begin();
    makeDegraded(story);
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
    expect(story.state).toMatchObject({ isDegraded: false, slowStreak: 0 });
  });

  it("is still degraded after a time in which its status was unknown, and ends it as usual", () => {
    const story = begin();
    makeDegraded(story);
    story.wait(600);
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
    expect(kinds(story.check("eu", "up", SLOW).events)).toEqual(["up"]);
    expect(story.state.isDegraded).toBe(true);
    story.wait(600);
    story.expire();
    expect(kinds(story.check("eu", "up", QUICK).events)).toEqual(["up"]);
    expect(story.check("eu", "up", QUICK).events).toEqual([]);
    expect(kinds(story.check("eu", "up", QUICK).events)).toEqual(["recovered_speed"]);
  });

  it("whose limit is removed while its status is unknown ends with the next check", () => {
    const story = begin();
    makeDegraded(story);
    story.state = { ...story.state, isDegradedReported: true };
    story.wait(600);
    story.change({ degradedMs: null });
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
    expect(kinds(story.check("eu", "up", SLOW).events)).toEqual(["up", "recovered_speed"]);
  });

  it("that was reported, and is up and quick after an outage, ends with an event", () => {
    const story = begin();
    makeDegraded(story);
    story.state = { ...story.state, isDegradedReported: true };
    story.check("eu", "down");
    expect(kinds(story.check("eu", "up", QUICK).events)).toEqual(["up!"]);
    expect(story.check("eu", "up", QUICK).events).toEqual([]);
    expect(story.check("eu", "up", QUICK).events).toEqual([{ kind: "recovered_speed", at: story.now }]);
  });

  it("that was not reported has no event of its end after an outage", () => {
    const story = begin();
    makeDegraded(story);
    story.check("eu", "down");
    for (let checks = 0; checks < 9; checks++) {
      expect(kinds(story.check("eu", "up", QUICK).events)).toEqual(checks === 0 ? ["up!"] : []);
    }
  });
});
