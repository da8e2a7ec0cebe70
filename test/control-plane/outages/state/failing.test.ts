import { describe, expect, it } from "vitest";
import { FAULT, kinds, tellOfDown, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

function failAlone(story: Story, location: string, times: number): readonly string[] {
  return Array.from({ length: times }, () => kinds(story.check(location, "down").events)).flat();
}

describe("a location that fails while the monitor is up", () => {
  it("is an advisory with its third failure in a row", () => {
    const story = tellOfUp();
    const since = story.now;
    expect(failAlone(story, "us", 2)).toEqual([]);
    expect(story.check("us", "down").events).toEqual([
      { kind: "advisory", at: story.now, failing: [{ location: "us", fault: FAULT, since }], isNew: true },
    ]);
    expect(failAlone(story, "us", 10)).toEqual([]);
    expect(story.state).toMatchObject({ status: "up", failing: ["us"] });
  });

  it("ends the advisory when it succeeds", () => {
    const story = tellOfUp();
    failAlone(story, "us", 3);
    expect(story.check("us", "up").events).toEqual([{ kind: "advisory", at: story.now, failing: [], isNew: false }]);
  });

  it("ends the advisory when it falls silent", () => {
    const story = tellOfUp();
    failAlone(story, "us", 3);
    story.wait(100);
    story.checkAll({ eu: "up", ap: "up" });
    story.wait(40);
    expect(kinds(story.expire().events)).toEqual(["advisory"]);
    expect(story.state).toMatchObject({ status: "up", failing: [] });
  });

  it("joins others, with an event for each change of the set", () => {
    const story = tellOfUp({ locations: ["a", "b", "c", "d", "e"] });
    expect(failAlone(story, "b", 3)).toEqual(["advisory"]);
    expect(failAlone(story, "a", 3)).toEqual(["advisory"]);
    expect(story.state.failing).toEqual(["a", "b"]);
    expect(kinds(story.check("b", "up").events)).toEqual(["advisory"]);
    expect(story.state.failing).toEqual(["a"]);
  });

  it("is no advisory if it is the only location: then it confirms an outage", () => {
    const story = tellOfUp({ locations: ["eu"], retries: 5 });
    expect(failAlone(story, "eu", 5)).toEqual([]);
    expect(failAlone(story, "eu", 1)).toEqual(["down!"]);
  });

  it("is not reported again after a time in which the status was unknown", () => {
    const story = tellOfUp();
    failAlone(story, "us", 3);
    story.wait(100);
    failAlone(story, "us", 1);
    story.wait(100);
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
    expect(kinds(story.checkAll({ eu: "up", ap: "up" }))).toEqual(["up"]);
    expect(story.state.failing).toEqual(["us"]);
  });
});

describe("an outage", () => {
  it("replaces the advisory, and leaves one for a location that fails on after it", () => {
    const story = tellOfUp();
    failAlone(story, "us", 3);
    expect(kinds(story.check("eu", "down").events)).toEqual(["down!"]);
    expect(story.state.failing).toEqual(["eu", "us"]);
    expect(kinds(story.check("eu", "up").events)).toEqual(["up!"]);
    expect(story.state.failing).toEqual([]);
    story.wait(1);
    expect(kinds(story.check("us", "down").events)).toEqual(["advisory"]);
    expect(story.state.failing).toEqual(["us"]);
  });

  it("leaves no advisory of a location that was not asked again since its end", () => {
    const story = tellOfDown();
    story.wait(240);
    story.checkAll({ eu: "down", us: "down", ap: "down" });
    story.wait(6);
    story.check("eu", "up");
    story.wait(1);
    expect(kinds(story.check("us", "up").events)).toEqual(["up!"]);
    expect(story.state).toMatchObject({ status: "up", failing: [] });
    story.wait(1);
    expect(kinds(story.check("ap", "up", { isRecheck: true }).events)).toEqual([]);
  });

  it("has an event for each change of the failing locations", () => {
    const story = tellOfUp();
    story.checkAll({ eu: "down", us: "down" });
    expect(story.check("ap", "down").events).toMatchObject([
      { kind: "failing", failing: [{ location: "eu" }, { location: "us" }, { location: "ap" }] },
    ]);
    expect(story.check("ap", "down").events).toEqual([]);
    expect(story.check("ap", "up").events).toMatchObject([
      { kind: "failing", failing: [{ location: "eu" }, { location: "us" }] },
    ]);
  });

  it("names its failing locations anew when it is known again", () => {
    const story = tellOfDown();
    story.wait(600);
    story.expire();
    story.check("ap", "down");
    expect(story.check("us", "down").events).toMatchObject([
      { kind: "down", isNotice: false, failing: [{ location: "us" }, { location: "ap" }] },
    ]);
    expect(story.state.failing).toEqual(["us", "ap"]);
  });
});
