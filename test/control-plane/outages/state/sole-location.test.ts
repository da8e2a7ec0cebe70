import { describe, expect, it } from "vitest";
import { failed, ownNetworkDown } from "#shared/contracts/outcome.ts";
import { decodeState, encodeState } from "#control-plane/outages/state/encoding.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";
import { kinds, tell, tellOfDown, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

const { stage, source, reason, message } = ownNetworkDown(
  failed("dns", "resolver", "timeout", "no answer"),
  "its resolvers do not answer",
);
/** The fault of a check whose probe fails its own self-test. */
const OFFLINE: CheckFault = { stage, source, reason, message };

/** A location fails, and its further checks too, one second apart. Returns the kinds of the events of each. */
function failTimes(story: Story, location: string, times: number): readonly (readonly string[])[] {
  return Array.from({ length: times }, (_, index) => {
    story.wait(1);
    return kinds(story.check(location, "down", { isRecheck: index > 0 }).events);
  });
}

describe("the sole one of several locations with a connected probe", () => {
  // For each: the locations, the quorum, the retries, and how many checks in a row must fail.
  it.each([
    [["eu", "us"], "majority", 2, 3],
    [["eu", "us"], "majority", 0, 3],
    [["eu", "us"], "majority", 5, 6],
    [["eu", "us"], 1, 2, 3],
    [["eu", "us"], 2, 2, 3],
    [["eu", "us", "ap"], "majority", 2, 3],
    [["eu", "us", "ap"], 1, 0, 3],
    [["eu", "us", "ap"], 3, 4, 5],
  ] as const)(
    "of %j, with quorum %s and %i retries, decides after %i failing checks",
    (locations, quorum, retries, needed) => {
      const story = tellOfUp({ locations, quorum, retries });
      story.change({ withoutAgent: locations.slice(1) });
      const found = failTimes(story, "eu", needed);
      expect(found).toEqual([...Array.from({ length: needed - 1 }, () => []), ["down!"]]);
      expect(story.state.sole).toEqual({ location: "eu", at: story.now });
    },
  );

  it("is checked again each second until it is confirmed, and is named as the sole one", () => {
    const story = tellOfUp({ locations: ["eu", "us"], withoutAgent: ["us"] });
    story.wait(1);
    const again = () => story.check("eu", "down").rechecks.filter(({ location }) => location === "eu");
    expect(again()).toEqual([{ location: "eu", at: story.now + 1_000 }]);
    expect(again()).toEqual([{ location: "eu", at: story.now + 1_000 }]);
    const { events, rechecks } = story.check("eu", "down");
    expect(events).toMatchObject([{ kind: "down", failing: [{ location: "eu", isSole: true }] }]);
    expect(rechecks).toEqual([]);
  });

  it("keeps a monitor up, and makes one up that was never known", () => {
    const up = tellOfUp({ locations: ["eu", "us"], withoutAgent: ["us"] });
    up.wait(600);
    expect(kinds(up.check("eu", "up").events)).toEqual([]);
    const fresh = tell({ locations: ["eu", "us"], withoutAgent: ["us"] });
    expect(kinds(fresh.check("eu", "up").events)).toEqual(["up"]);
  });

  it("ends an outage that others confirmed, as often as it must succeed; without that the outage continues", () => {
    const story = tellOfDown({ locations: ["eu", "us", "ap"], recovery: 2, withoutAgent: ["us", "ap"] });
    expect(kinds(story.check("eu", "down").events)).toEqual([]);
    expect(story.state.failing.toSorted()).toEqual(["ap", "eu", "us"]);
    expect(kinds(story.check("eu", "up").events)).not.toContain("up!");
    expect(kinds(story.check("eu", "up").events)).toContain("up!");
  });

  it("is not the sole one while the probe of another fails only now and then", () => {
    const story = tellOfUp({ locations: ["eu", "us"] });
    story.check("us", "unknown");
    expect(failTimes(story, "eu", 4).flat()).toEqual(["advisory"]);
    expect(story.state.status).toBe("up");
  });
});

describe("a location that is offline: its probe fails its own self-test", () => {
  it("does not vote, so that the other of two is the sole one and decides", () => {
    const story = tellOfUp({ locations: ["eu", "us"] });
    story.check("us", "unknown", { fault: OFFLINE });
    expect(failTimes(story, "eu", 3)).toEqual([[], [], ["down!"]]);
  });

  it("does not vote, so that two of three are the majority", () => {
    const story = tellOfUp();
    story.check("ap", "unknown", { fault: OFFLINE });
    expect(kinds(story.check("eu", "down").events)).toEqual([]);
    expect(kinds(story.check("us", "down").events)).toEqual(["down!"]);
  });

  it("votes again with its next verdict", () => {
    const story = tellOfUp({ locations: ["eu", "us"] });
    story.check("us", "unknown", { fault: OFFLINE });
    story.check("us", "up");
    expect(story.state).toMatchObject({ offline: [], sole: null });
    expect(failTimes(story, "eu", 4).flat()).toEqual(["advisory"]);
  });

  it("is asked again like others when its failed check is no longer recent", () => {
    const story = tellOfUp({ locations: ["eu", "us"] });
    story.check("us", "unknown", { fault: OFFLINE });
    story.wait(200);
    expect(kinds(story.check("eu", "up").events)).toEqual(["unknown"]);
  });

  it("keeps its verdict if the check began before that", () => {
    const story = tellOfUp({ locations: ["eu", "us"] });
    story.check("us", "unknown", { fault: OFFLINE, tookMs: 20_000 });
    expect(story.state).toMatchObject({ offline: [], sole: null });
  });
});

describe("several locations of which none is eligible", () => {
  it.each([["up"], ["down"]] as const)("make a monitor that was %s unknown, and never down", (before) => {
    const story = (before === "up" ? tellOfUp : tellOfDown)();
    story.change({ withoutAgent: ["eu", "us", "ap"] });
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
    const offline = (before === "up" ? tellOfUp : tellOfDown)();
    const found = ["eu", "us", "ap"].flatMap((location) => [
      ...kinds(offline.check(location, "unknown", { fault: OFFLINE }).events),
    ]);
    expect(found.filter((kind) => kind !== "failing")).toEqual(["unknown"]);
  });
});

describe("two or more eligible locations", () => {
  it("of which one has a recent verdict leave the status unknown", () => {
    const story = tell({ withoutAgent: ["ap"] });
    expect(failTimes(story, "eu", 9).flat()).toEqual([]);
    expect(story.state.status).toBe("unknown");
  });

  it.each([[2], [3]])("with a quorum of %i must all fail if they are two", (quorum) => {
    const story = tellOfUp({ quorum, withoutAgent: ["ap"] });
    expect(kinds(story.check("eu", "down").events)).toEqual([]);
    expect(kinds(story.check("us", "down").events)).toEqual(["down!"]);
  });
});

describe("when the probe of another location returns", () => {
  /** A monitor that is down because its only location left says so. */
  function downAtSole(locations: readonly string[] = ["eu", "us"]): Story {
    const story = tellOfUp({ locations, intervalMs: 300_000 });
    story.change({ withoutAgent: locations.slice(1) });
    failTimes(story, "eu", 3);
    expect(story.state.status).toBe("down");
    story.change({ withoutAgent: [] });
    story.wait(5);
    return story;
  }

  it("the status stays until that has checked, whatever it found before", () => {
    for (const locations of [
      ["eu", "us"],
      ["eu", "us", "ap"],
    ]) {
      const story = downAtSole(locations);
      expect(story.expire().events).toEqual([]);
      expect(story.check("eu", "down").events).toEqual([]);
      expect(story.state.status).toBe("down");
      story.state = decodeState(encodeState(story.state));
      expect(story.check("eu", "down").events).toEqual([]);
    }
  });

  it("and its check fails, the outage continues", () => {
    const story = downAtSole();
    expect(kinds(story.check("us", "down").events)).toEqual(["failing"]);
    expect(story.state).toMatchObject({ status: "down", sole: null });
  });

  it("and its check is good, an even split changes nothing, and a majority ends the outage", () => {
    const two = downAtSole();
    expect(kinds(two.check("us", "up").events)).toEqual([]);
    expect(kinds(two.check("eu", "up").events)).toContain("up!");
    const three = downAtSole(["eu", "us", "ap"]);
    expect(kinds(three.check("us", "up").events)).toEqual([]);
    expect(kinds(three.check("ap", "up").events)).toContain("up!");
  });

  it("and never checks, the status is unknown after the time in which verdicts count", () => {
    const story = downAtSole();
    story.wait(500);
    expect(story.check("eu", "down").events).toEqual([]);
    story.wait(200);
    expect(kinds(story.check("eu", "down").events)).toEqual(["unknown"]);
  });

  it("a monitor that was up at its sole location stays up", () => {
    const story = tellOfUp({ locations: ["eu", "us"], withoutAgent: ["us"] });
    story.check("eu", "up");
    story.change({ withoutAgent: [] });
    story.wait(20);
    expect(story.check("eu", "up").events).toEqual([]);
    expect(story.check("us", "up").events).toEqual([]);
  });
});
