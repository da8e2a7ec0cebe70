import { describe, expect, it } from "vitest";
import {
  hopLoss,
  pathHash,
  findRefusal,
  type PathHop,
  type ProbedHop,
} from "#probe-agent/tools/ping/trace-findings.ts";

/** Builds hops from one word each: addresses, or - for no answer. */
function hops(...lines: readonly string[]): PathHop[] {
  return lines.map((line) => ({ replies: line.split(" ").map((ip) => ({ ip: ip === "-" ? null : ip })) }));
}

/** Builds hops from one word each: - for no answer, else lost probes of those sampled, with a ? if unclear. */
function probed(...words: readonly string[]): ProbedHop[] {
  return words.map((word) => {
    const [lost = 0, sampled = 0] = word.replace("?", "").split("/").map(Number);
    const unclear = word.endsWith("?") ? 1 : 0;
    if (word === "-") return { replies: [{ ip: null }], evidence: { sampled: 3, lost: 3, unclear: 0 } };
    return { replies: [{ ip: "a" }, { ip: null }], evidence: { sampled, lost, unclear } };
  });
}

describe("loss at a hop", () => {
  it.each([
    // Nothing lost, one probe lost at the target, and loss that continues to the target.
    [["0/3", "0/3", "0/3"], true, [0, 0, 0]],
    [["0/3", "0/3", "1/4"], true, [0, 0, 25]],
    [["0/3", "1/3", "2/3"], true, [0, 33.333, 66.667]],
    // Later hops lose nothing: the router limits its answers, if they were probed often enough to show this.
    [["2/3", "0/3", "0/3"], true, [0, 0, 0]],
    [["0/3", "1/3", "0/3", "0/5"], true, [0, 0, 0, 0]],
    [["0/3", "1/3", "0/3"], true, [0, null, 0]],
    // Later hops lose far less: the rest is a limit.
    [["7/8", "1/8", "2/16"], true, [12.5, 12.5, 12.5]],
    // No later hop and no target: the loss is unknown.
    [["0/3", "0/3", "2/3"], false, [0, 0, null]],
    [["0/3", "2/3", "2/3"], false, [0, null, null]],
    [["0/3", "2/3", "0/3"], false, [0, null, 0]],
    // A target that lost none by chance proves nothing about the hops before it, three of which in a row lost some.
    [["0/5", "3/5", "2/5", "3/5", "0/5"], true, [0, null, null, null, 0]],
    // A hop that may have lost some leaves the hops before it unknown, also if the target answered everything.
    [["2/3", "2/5", "0/6"], true, [null, null, 0]],
    [["0/1?", "2/5", "0/6"], true, [null, null, 0]],
    // Too few probes of the hop itself. Only later hops show its loss.
    [["0/1?", "0/3", "0/3"], true, [0, 0, 0]],
    [["0/3", "1/2?", "2/3"], true, [0, null, 66.667]],
    [["0/3", "0/3", "1/2?"], true, [0, 0, null]],
    // A silent hop shows nothing about those before it.
    [["0/3", "-", "0/3", "-"], false, [0, 100, 0, 100]],
    [["0/3", "-", "1/3"], true, [0, 100, 33.333]],
  ] as const)("is, for %j with the target reached or not (%s), %j", (words, reached, losses) => {
    expect(hopLoss(probed(...words), reached)).toEqual(losses);
  });
});

describe("loss at a hop with echoes that no router limits", () => {
  it.each([
    // None of twenty echoes is lost: the unanswered probes are caused by a limit.
    [["2/3", "1/1?", "2/3", "3/4"], { sampled: 20, lost: 0, isTargetLimited: true }, [0, 0, 0, 0]],
    // The replies of a target with messages that are not limited are decisive.
    [["2/3", "1/4"], { sampled: 20, lost: 0, isTargetLimited: false }, [4.167, 25]],
    // The echoes also show loss.
    [["0/3", "2/5", "2/5"], { sampled: 20, lost: 8, isTargetLimited: true }, [0, 40, 40]],
    // All probes are lost although the path loses only two in five: the rest is a limit.
    [["9/10", "2/5"], { sampled: 20, lost: 8, isTargetLimited: true }, [40, 40]],
  ] as const)("is, for %j and %j, %j", (words, echoes, losses) => {
    expect(hopLoss(probed(...words), true, echoes)).toEqual(losses);
  });
});

describe("the name of a route", () => {
  it("is 16 hex digits of its addresses, regardless of their order and number of answers", () => {
    expect(pathHash(hops("a a a", "b c b"))).toMatch(/^[0-9a-f]{16}$/);
    expect(pathHash(hops("a a a", "b c b"))).toBe(pathHash(hops("a - a", "c b c")));
  });

  it("changes with any hop", () => {
    const names = [hops("a", "b"), hops("b", "a"), hops("a", "-", "b"), hops("a b"), hops("a"), hops()].map(pathHash);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("the router that refused to forward packets", () => {
  const silence = { ip: null, icmpType: null, icmpCode: null };
  const passing = { hop: 1, replies: [{ ip: "a", icmpType: 11, icmpCode: 0 }] };
  const refusing = (icmpType: number, icmpCode: number) => [
    passing,
    { hop: 2, replies: [silence, { ip: "b", icmpType, icmpCode }] },
  ];

  it("is the last router, with the name of its code", () => {
    const refusal = { hop: 2, ip: "b", icmp_type: 3, icmp_code: 13, reason: "admin_prohibited" };
    expect(findRefusal(4, refusing(3, 13))).toEqual(refusal);
    expect(findRefusal(6, refusing(1, 0))).toMatchObject({ reason: "no_route" });
    expect(findRefusal(6, refusing(2, 0))).toMatchObject({ reason: "packet_too_big" });
    expect(findRefusal(4, refusing(12, 0))).toMatchObject({ reason: "parameter_problem" });
    expect(findRefusal(4, refusing(3, 200))).toMatchObject({ reason: "other" });
  });

  it("is null if the path became silent, a TCP segment answered, or nothing did", () => {
    expect(findRefusal(4, refusing(11, 0))).toBeNull();
    expect(findRefusal(4, [passing, { hop: 2, replies: [silence] }])).toBeNull();
    expect(findRefusal(4, [{ hop: 1, replies: [{ ip: "t", icmpType: null, icmpCode: null }] }])).toBeNull();
    expect(findRefusal(4, [])).toBeNull();
  });
});
