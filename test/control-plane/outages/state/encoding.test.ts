import { describe, expect, it } from "vitest";
import { decodeState, encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";
import { addVerdict } from "#control-plane/outages/state/locations.ts";
import { FAULT, SETTINGS, START, tellOfDown, tellOfUp } from "#test/control-plane/outages/state/story.ts";

/** A state in which every field differs from that of a new monitor. */
const FULL: MonitorState = {
  status: "unknown",
  lastKnown: "down",
  changedAt: START,
  knownSince: START - 1,
  failedAt: START + 2_000,
  isDegraded: true,
  isDegradedReported: true,
  slowStreak: -3,
  changes: [START - 3, START - 2],
  isFlapping: true,
  flappingNotifiedAt: START - 6,
  failing: ["eu", "us"],
  unsteady: ["ap"],
  remindAt: START + 600_000,
  silenced: { reason: "dependency", previous: "unknown", endedAt: START },
  incidentId: 12,
  locations: new Map([
    ["eu", { verdict: "down", at: START, streak: 3, since: START - 3, fault: FAULT }],
    [
      "ap",
      {
        verdict: "up",
        at: START,
        streak: 1,
        since: START,
        fault: null,
        softState: { failed: 4, since: START, fault: FAULT },
      },
    ],
    ["__proto__", { verdict: "up", at: START, streak: 1, since: START, fault: null }],
  ]),
  offline: [{ location: "us", at: START }],
  sole: { location: "eu", at: START - 4 },
  noData: { since: START - 5, isNotified: true },
};

function addVerdictTo(message: string): Pick<MonitorState, "locations"> {
  const failed = { location: "eu", verdict: "down", beganAt: START, responseMs: null, isRecheck: false } as const;
  return { locations: addVerdict(SETTINGS, new Map(), { ...failed, fault: { ...FAULT, message } }, START) };
}

describe("the stored form of a state", () => {
  it("keeps every field", () => {
    expect(decodeState(encodeState(FULL))).toEqual(FULL);
    const undecided = { ...FULL, silenced: { reason: "undecided", previous: "up", silencedAt: START } } as const;
    expect(decodeState(encodeState(undecided))).toEqual(undecided);
    expect(decodeState(encodeState(tellOfDown({ repeatMs: 1_000 }).state))).toEqual(
      tellOfDown({ repeatMs: 1_000 }).state,
    );
  });

  it("of a new monitor is an empty object", () => {
    expect(encodeState(NEW_STATE)).toBe("{}");
    expect(decodeState("{}")).toEqual(NEW_STATE);
  });

  it("is short: below 150 bytes for a monitor that is up at one location, below 400 for three", () => {
    const one = tellOfUp({ locations: ["eu-central"] });
    const three = tellOfUp({ locations: ["eu-central", "us-west+datacenter", "probe:prb_1234567890"] });
    for (let checks = 0; checks < 2_000; checks++) {
      for (const story of [one, three]) for (const at of story.settings.locations) story.check(at, "up");
    }
    expect(Buffer.byteLength(encodeState(one.state))).toBeLessThan(150);
    expect(Buffer.byteLength(encodeState(three.state))).toBeLessThan(400);
  });

  it("keeps the beginning of a long message, without half a character", () => {
    const message = "x".repeat(199) + "\u{1F525}".repeat(100);
    const { locations } = addVerdictTo(message);
    expect(decodeState(encodeState({ ...NEW_STATE, locations })).locations.get("eu")?.fault?.message).toBe(
      `${"x".repeat(199)}\uFFFD`,
    );
  });

  it("can be read if a newer release added fields, items and words", () => {
    const stored = JSON.parse(encodeState(FULL)) as Record<string, unknown>;
    const locations = (stored["locations"] as unknown[][]).map((location) => [...location, null, { new: 1 }]);
    const newer = { ...stored, locations, colour: "red", held: ["weather", "up", null] };
    expect(decodeState(JSON.stringify(newer))).toEqual({ ...FULL, silenced: null });
  });

  it.each([
    ["no fields", "{}"],
    [
      "fields of other types",
      '{"status":7,"changed":"x","slow":null,"changes":{},"locations":[1,["eu"],["eu","?",1,2,3]]}',
    ],
    ["a list", "[]"],
  ])("with %s is that of a new monitor", (_, text) => {
    expect(decodeState(text)).toEqual(NEW_STATE);
  });
});
