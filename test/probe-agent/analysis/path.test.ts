import { describe, expect, it } from "vitest";
import { hopLoss, pathHash, refusalOf, type PathHop } from "#probe-agent/analysis/path.ts";

/** Hops from one word each: addresses, or - for silence. */
function hops(...lines: readonly string[]): PathHop[] {
  return lines.map((line) => ({ replies: line.split(" ").map((ip) => ({ ip: ip === "-" ? null : ip })) }));
}

describe("loss at a hop", () => {
  it("is what stayed unanswered", () => {
    expect(hopLoss(hops("a a a", "b b -", "c - -"))).toEqual([0, 33.333, 66.667]);
  });

  it("cannot be more than behind it: the rest is the router's own limit", () => {
    expect(hopLoss(hops("a - -", "b b -", "c c c"))).toEqual([0, 0, 0]);
    expect(hopLoss(hops("a - - -", "b b - -", "c c c -"))).toEqual([25, 25, 25]);
  });

  it("counts what was sent again where the path's end answers all it gets", () => {
    const path = hops("a a a", "b b b", "- - -", "c c c");
    const counts = [
      { sent: 3, roundTripsMs: [1, 1, 1] },
      { sent: 6, roundTripsMs: [2, 2, 2] },
      { sent: 3, roundTripsMs: [] },
      { sent: 4, roundTripsMs: [3, 3, 3] },
    ];
    expect(hopLoss(path, counts)).toEqual([0, 25, 100, 25]);
    expect(hopLoss(path)).toEqual([0, 0, 100, 0]);
  });

  it("is 100 at a silent hop, which says nothing about those before it", () => {
    expect(hopLoss(hops("a a", "- -", "c c", "- -"))).toEqual([0, 100, 0, 100]);
  });
});

describe("the name of a route", () => {
  it("is 16 hex digits of its addresses, however often and in whatever order they answered", () => {
    expect(pathHash(hops("a a a", "b c b"))).toMatch(/^[0-9a-f]{16}$/);
    expect(pathHash(hops("a a a", "b c b"))).toBe(pathHash(hops("a - a", "c b c")));
  });

  it("changes with any hop", () => {
    const names = [hops("a", "b"), hops("b", "a"), hops("a", "-", "b"), hops("a b"), hops("a"), hops()].map(pathHash);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("who refused to go on", () => {
  const silence = { ip: null, icmpType: null, icmpCode: null };
  const passing = { hop: 1, replies: [{ ip: "a", icmpType: 11, icmpCode: 0 }] };
  const refusing = (icmpType: number, icmpCode: number) => [
    passing,
    { hop: 2, replies: [silence, { ip: "b", icmpType, icmpCode }] },
  ];

  it("is the last router, by the name of its code", () => {
    const refusal = { hop: 2, ip: "b", icmp_type: 3, icmp_code: 13, reason: "admin_prohibited" };
    expect(refusalOf(4, refusing(3, 13))).toEqual(refusal);
    expect(refusalOf(6, refusing(1, 0))).toMatchObject({ reason: "no_route" });
    expect(refusalOf(6, refusing(2, 0))).toMatchObject({ reason: "packet_too_big" });
    expect(refusalOf(4, refusing(12, 0))).toMatchObject({ reason: "parameter_problem" });
    expect(refusalOf(4, refusing(3, 200))).toMatchObject({ reason: "other" });
  });

  it("is nobody where the path went silent, a segment answered or nothing did", () => {
    expect(refusalOf(4, refusing(11, 0))).toBeNull();
    expect(refusalOf(4, [passing, { hop: 2, replies: [silence] }])).toBeNull();
    expect(refusalOf(4, [{ hop: 1, replies: [{ ip: "t", icmpType: null, icmpCode: null }] }])).toBeNull();
    expect(refusalOf(4, [])).toBeNull();
  });
});
