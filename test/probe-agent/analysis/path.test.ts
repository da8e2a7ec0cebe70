import { describe, expect, it } from "vitest";
import { hopLoss, pathHash, type PathHop } from "#probe-agent/analysis/path.ts";

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
