import { describe, expect, it } from "vitest";
import type { Cause } from "#control-plane/people/warnings/causes.ts";
import { PATIENCE_MS } from "#control-plane/people/warnings/codes.ts";
import { compareCauses, type KnownCause } from "#control-plane/people/warnings/compare.ts";

const START = Date.parse("2026-03-01T12:00:00Z");
const at = (ms: number) => new Date(START + ms);
const cause = (over: Partial<Cause> = {}): Cause => ({
  code: "location_unserved",
  subject: "eu-west",
  message: "No agent.",
  monitorCount: 1,
  monitorIds: [7],
  ...over,
});

/** Compares again and again, as the rounds of a replica do. */
function follow(rounds: readonly { readonly ms: number; readonly causes: readonly Cause[] }[]) {
  let known: readonly KnownCause[] = [];
  return rounds.map(({ ms, causes }) => {
    const changes = compareCauses(known, causes, at(ms));
    known = changes.present;
    return changes;
  });
}

const texts = (causes: readonly KnownCause[]) => causes.map(({ code, subject }) => `${code} ${subject}`);
const PATIENCE = PATIENCE_MS.location_unserved;

describe("a cause", () => {
  it("is reported once, when it has lasted for its patience, with the time when it was first found", () => {
    const rounds = [0, PATIENCE - 1, PATIENCE, PATIENCE + 10_000].map((ms) => ({ ms, causes: [cause()] }));
    const changes = follow(rounds);
    expect(changes.map(({ begun }) => texts(begun))).toEqual([[], [], ["location_unserved eu-west"], []]);
    expect(changes[2]?.begun[0]).toMatchObject({ since: at(0), raisedAt: at(PATIENCE) });
    expect(changes[3]?.present[0]?.raisedAt).toEqual(at(PATIENCE));
  });

  it("that ends before its patience is never reported, and counts anew if it returns", () => {
    const changes = follow([
      { ms: 0, causes: [cause()] },
      { ms: PATIENCE - 1, causes: [] },
      { ms: PATIENCE, causes: [cause()] },
      { ms: 2 * PATIENCE - 1, causes: [cause()] },
    ]);
    expect(changes.flatMap(({ begun, ended }) => [...begun, ...ended])).toEqual([]);
    expect(changes[1]?.gone).toHaveLength(1);
    expect(changes[3]?.present[0]?.since).toEqual(at(PATIENCE));
  });

  it("that was reported ends once", () => {
    const changes = follow([
      { ms: 0, causes: [cause()] },
      { ms: PATIENCE, causes: [cause()] },
      { ms: PATIENCE + 1, causes: [] },
      { ms: PATIENCE + 2, causes: [] },
    ]);
    expect(changes.map(({ ended }) => ended.length)).toEqual([0, 0, 1, 0]);
  });

  it("keeps its beginning while its message and monitors change, and is not reported again", () => {
    const changes = follow([
      { ms: 0, causes: [cause()] },
      { ms: PATIENCE, causes: [cause()] },
      { ms: PATIENCE + 1, causes: [cause({ message: "Two.", monitorCount: 2, monitorIds: [7, 8] })] },
    ]);
    expect(changes[2]?.begun).toEqual([]);
    expect(changes[2]?.present[0]).toMatchObject({ message: "Two.", monitorCount: 2, since: at(0) });
  });

  it("of another subject is another one", () => {
    const both = [cause(), cause({ subject: "us-east" })];
    const changes = follow([
      { ms: 0, causes: [cause()] },
      { ms: PATIENCE, causes: both },
      { ms: 2 * PATIENCE, causes: both },
    ]);
    expect(changes.map(({ begun }) => texts(begun))).toEqual([
      [],
      ["location_unserved eu-west"],
      ["location_unserved us-east"],
    ]);
  });

  it("without patience is reported at once", () => {
    const [changes] = follow([{ ms: 0, causes: [cause({ code: "mail_not_configured", subject: "" })] }]);
    expect(changes?.begun).toHaveLength(1);
  });
});
