import { describe, expect, it } from "vitest";
import { timingOf, type TraceTiming } from "#probe-agent/net/icmp/trace/trace-timing.ts";
import { createTracePlan } from "#probe-agent/net/icmp/trace/plan.ts";
import { hopLoss } from "#probe-agent/tools/ping/trace-findings.ts";
import type { TraceHop } from "#probe-agent/port/packets.ts";
import type { Passage } from "#probe-agent/net/icmp/trace/probe.ts";

const PACE = timingOf({ protocol: "icmp", maxHops: 30, queries: 3 });

/** Answer of a simulated network, after some milliseconds. An ICMP error quotes the probe with the TTL that was left. */
interface Given {
  readonly ip: string;
  readonly ms: number;
  readonly passage: Passage;
  readonly ttlLeft?: number;
}

/** What a simulated network does with the n-th probe (from 1) of a hop, sent at that time: it answers, or not at all. */
type Network = (ttl: number, nth: number, at: number) => Given | null;

/** ICMP type of the target's own answers: echo reply or port unreachable; null for a TCP segment. */
const END_TYPES = { icmp: 0, udp: 3, tcp: null } as const;

interface Walk {
  readonly lines: readonly string[];
  readonly hops: readonly TraceHop[];
  readonly reached: boolean;
  readonly tookMs: number;
  readonly sends: readonly { readonly ttl: number; readonly flow: number; readonly at: number }[];
  /** Per hop. */
  readonly sent: readonly number[];
}

/** Runs a plan over a network in simulated time. */
function walk(network: Network, options: Partial<TraceTiming> = {}, endType: number | null = END_TYPES.icmp): Walk {
  const plan = createTracePlan({ ...PACE, ...options });
  const sends: { ttl: number; flow: number; at: number }[] = [];
  const arrivals: (Given & { probe: number; at: number })[] = [];
  let now = 0;
  for (let turn = 0; turn < 10_000; turn += 1) {
    const due = arrivals.filter((arrival) => arrival.at <= now);
    for (const { probe, at, ip, passage, ttlLeft = null } of due) {
      arrivals.splice(
        arrivals.findIndex((arrival) => arrival.probe === probe),
        1,
      );
      const reply = { ip, icmpType: passage === "reached" ? endType : 11, icmpCode: 0 };
      plan.answered(probe, { reply, passage, ttlLeft, at });
    }
    const next = plan.next(now);
    if (next.do === "end") {
      const hops = plan.hops(now, true);
      const lines = hops.map(({ replies }) => replies.map(({ ip }) => ip ?? "-").join(" "));
      return { lines, hops, reached: plan.reached(), tookMs: now, sends, sent: hops.map(({ sent }) => sent) };
    }
    if (next.do === "send") {
      const { ttl, flow } = next;
      sends.push({ ttl, flow, at: now });
      plan.sent(sends.length, ttl, now);
      const answer = network(ttl, sends.filter((send) => send.ttl === ttl).length, now);
      if (answer !== null) arrivals.push({ probe: sends.length, ...answer, at: now + answer.ms });
    } else {
      now = Math.min(next.until, ...arrivals.map((arrival) => arrival.at));
    }
  }
  throw new Error("the plan never ends");
}

/** Returns numbers from 0 to 1 that look random and are the same each time (a linear congruential generator). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Routers a, b, c ... and the target at hop `target`, 10 ms per hop. */
function line(target: number): Network {
  return (ttl) => {
    const hop = Math.min(ttl, target);
    return { ip: String.fromCodePoint(96 + hop), ms: hop * 10, passage: ttl >= target ? "reached" : "passing" };
  };
}

describe("a trace's plan", () => {
  it("probes every hop up to the target and none beyond it", () => {
    const { lines, reached } = walk(line(4));
    expect(lines).toEqual(["a a a", "b b b", "c c c", "d d d"]);
    expect(reached).toBe(true);
  });

  it("sends only a few first probes beyond the target, and counts their answers as the target's", () => {
    const { sends, lines } = walk(line(4));
    const beyond = sends.filter(({ ttl }) => ttl > 4).length;
    expect(beyond).toBeLessThanOrEqual(PACE.lookahead);
    expect(sends.length).toBeLessThanOrEqual(12 + beyond);
    expect(sends.filter(({ ttl }) => ttl === 4).length + beyond).toBeGreaterThanOrEqual(3);
    expect(lines).toHaveLength(4);
  });

  it("counts the probes sent to each hop", () => {
    const plan = walk(line(4));
    expect(plan.sent).toEqual([3, 3, 3, expect.any(Number)]);
    const limited: Network = (ttl, nth, at) => (ttl === 2 && nth === 2 ? null : line(4)(ttl, nth, at));
    // Three queries, and three trials for the probe without an answer.
    expect(walk(limited).sent[1]).toBe(6);
  });

  it("needs little more than one round trip with one query per hop", () => {
    // The target is 150 ms away, behind near routers.
    const ocean: Network = (ttl, nth, at) => {
      const answer = line(8)(ttl, nth, at);
      return answer === null ? null : { ...answer, ms: ttl >= 3 ? 150 : 5 };
    };
    const { tookMs, lines } = walk(ocean, { queries: 1 });
    expect(lines).toHaveLength(8);
    expect(tookMs).toBeLessThan(200);
  });

  it("sends few probes to a target that limits its answers, because answers to overshooting probes count", () => {
    const timing = timingOf({ protocol: "udp", maxHops: 30, queries: 3 });
    let burst = 6;
    const target: Network = (ttl) => {
      if (ttl < 8) return { ip: `r${ttl}`, ms: 1, passage: "passing" };
      burst -= 1;
      return burst < 0 ? null : { ip: "t", ms: 150, passage: "reached" };
    };
    const { lines, reached, tookMs } = walk(target, timing);
    expect([lines.at(-1), lines.length, reached]).toEqual(["t t t", 8, true]);
    expect(tookMs).toBeLessThan(1_000);
  });

  it("begins at the requested first hop", () => {
    const { lines, sends } = walk(line(4), { firstHop: 3 });
    expect(lines).toEqual(["c c c", "d d d"]);
    expect(Math.min(...sends.map(({ ttl }) => ttl))).toBe(3);
  });

  it("sends the probes of each hop in the requested number of flows, in turn", () => {
    const { sends } = walk(line(3), { flows: 2, queries: 4 });
    for (const hop of [1, 2]) {
      expect(sends.filter(({ ttl }) => ttl === hop).map(({ flow }) => flow)).toEqual([0, 1, 0, 1]);
    }
    expect(new Set(walk(line(3)).sends.map(({ flow }) => flow))).toEqual(new Set([0]));
  });

  it("waits for the router that searches three seconds for a missing host", () => {
    const missing: Network = (ttl, nth, at) =>
      ttl >= 3 ? { ip: "b", ms: 3_050, passage: "unreachable" } : line(9)(ttl, nth, at);
    const { lines, reached } = walk(missing, { queries: 1 });
    expect(lines).toEqual(["a", "b", "b"]);
    expect(reached).toBe(false);
  });

  it("keeps a gap between packets, and a longer one at each hop", () => {
    const { sends } = walk(line(8));
    const gaps = sends.slice(1).map(({ at }, index) => at - (sends[index]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(PACE.packetGapMs);
    for (let hop = 1; hop <= 8; hop += 1) {
      const times = sends.filter(({ ttl }) => ttl === hop).map(({ at }) => at);
      const least = Math.min(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
      expect(least).toBeGreaterThanOrEqual(PACE.hopGapMs);
    }
  });

  it("waits for a router that answers once a second", () => {
    // The second probe of hop 2 meets the used-up limit. A probe one second later is answered.
    const limited: Network = (ttl, nth, at) => (ttl === 2 && (nth === 2 || nth === 4) ? null : line(4)(ttl, nth, at));
    const { lines, sends, tookMs } = walk(limited);
    expect(lines).toEqual(["a a a", "b b b", "c c c", "d d d"]);
    const retried = sends.filter(({ ttl }) => ttl === 2).map(({ at }) => at);
    expect(Math.max(...retried) - (retried[1] ?? 0)).toBeGreaterThan(1_000);
    expect(tookMs).toBeLessThan(5_000);
  });

  it("continues past a silent hop and gives it up after a few spaced tries", () => {
    const { lines, sends, reached } = walk((ttl, nth, at) => (ttl === 2 ? null : line(5)(ttl, nth, at)));
    expect(lines).toEqual(["a a a", "- - -", "c c c", "d d d", "e e e"]);
    expect(reached).toBe(true);
    const tries = sends.filter(({ ttl }) => ttl === 2).map(({ at }) => at);
    expect(tries).toHaveLength(3);
    expect((tries[1] ?? 0) - (tries[0] ?? 0)).toBeGreaterThan(1_000);
  });

  it("ends after five silent hops in a row", () => {
    const { lines, reached, tookMs } = walk((ttl, nth, at) => (ttl > 2 ? null : line(9)(ttl, nth, at)));
    expect(lines).toEqual(["a a a", "b b b", "- - -", "- - -", "- - -", "- - -", "- - -"]);
    expect(reached).toBe(false);
    expect(tookMs).toBeLessThan(8_000);
  });

  it("ends at max_hops", () => {
    const { lines, reached } = walk(line(9), { maxHops: 3, queries: 1 });
    expect(lines).toEqual(["a", "b", "c"]);
    expect(reached).toBe(false);
  });

  it("ends at a router that refuses to forward", () => {
    const wall: Network = (ttl, nth, at) =>
      ttl >= 3 ? { ip: "c", ms: 30, passage: "unreachable" } : line(9)(ttl, nth, at);
    expect(walk(wall)).toMatchObject({ lines: ["a a a", "b b b", "c c c"], reached: false });
  });

  it("finds the target's own hop although its first probe was lost", () => {
    const { lines } = walk((ttl, nth, at) => (ttl === 4 && nth === 1 ? null : line(4)(ttl, nth, at)));
    expect(lines).toEqual(["a a a", "b b b", "c c c", "d d d"]);
  });

  it("counts an answer that arrives after its probe counted as silent, once", () => {
    const plan = createTracePlan({ ...PACE, maxHops: 1, queries: 1 });
    plan.sent(1, 1, 0);
    expect(plan.next(1_500).do).toBe("send");
    const reply = { ip: "a", icmpType: 11, icmpCode: 0 };
    const answer = { reply, passage: "passing", ttlLeft: 1 } as const;
    expect(plan.answered(1, { ...answer, at: 1_600 })).toBe(true);
    expect(plan.answered(1, { ...answer, at: 1_700 })).toBe(false);
    expect(plan.answered(99, { ...answer, at: 1_700 })).toBe(false);
    expect(plan.hops(1_700, false)).toEqual([
      {
        hop: 1,
        sent: 1,
        roundTripsMs: [1_600],
        evidence: { sampled: 1, lost: 0, unclear: 0 },
        replies: [{ ...reply, rttMs: 1_600 }],
      },
    ]);
  });
});

describe("a path that loses packets between its third and fourth hop", () => {
  /** A fifth of the packets on that link is lost, in both directions together. */
  function lossy(seed: number, queries = 3): Walk {
    const next = numbers(seed);
    for (let warm = 0; warm < 10; warm += 1) next();
    return walk((ttl, nth, at) => (ttl >= 4 && next() < 0.2 ? null : line(7)(ttl, nth, at)), { queries });
  }
  const isWhole = ({ lines }: Walk): boolean => lines.map((of) => of[0]).join("") === "abcdefg";
  const walks = Array.from({ length: 300 }, (_, seed) => lossy(seed + 1));

  it("is traced to its end with all its routers", () => {
    expect(walks.every(({ reached }) => reached)).toBe(true);
    expect(walks.filter(isWhole).length).toBeGreaterThan(walks.length * 0.95);
    expect(Math.max(...walks.map(({ tookMs }) => tookMs))).toBeLessThan(8_000);
  });

  it("is traced completely with one query per hop too", () => {
    const single = walks.map((_, seed) => lossy(seed + 1, 1));
    expect(single.every(({ reached }) => reached)).toBe(true);
    expect(single.filter(isWhole).length).toBeGreaterThan(walks.length * 0.95);
  });

  it("shows that loss at its end, including repeated packets, and no loss before the link", () => {
    const losses = walks.map(({ hops }) => hopLoss(hops, true));
    for (const loss of losses) expect(loss.slice(0, 3)).toEqual([0, 0, 0]);
    const mean = losses.reduce((sum, loss) => sum + (loss.at(-1) ?? 0), 0) / losses.length;
    expect(mean).toBeGreaterThan(12);
    expect(mean).toBeLessThan(28);
  });

  it("has consistent figures", () => {
    for (const { hops } of walks) {
      for (const { sent, roundTripsMs, replies } of hops) {
        expect(roundTripsMs.length).toBeLessThanOrEqual(sent);
        expect(replies.filter(({ ip }) => ip !== null).length).toBe(Math.min(roundTripsMs.length, 3));
      }
    }
  });
});

describe("loss on the way to the fourth of seven hops", () => {
  const WALKS = 60;
  const queries = 3;
  const rows = (["icmp", "udp", "tcp"] as const).flatMap((protocol) => [
    { protocol, loss: 0.1, atLeast: 0, atTarget: [3, 12] as const },
    { protocol, loss: 0.4, atLeast: 15, atTarget: [28, 45] as const },
  ]);

  it.each(rows)("is shown at each hop behind it, and not before, by $protocol, share $loss", (row) => {
    const { protocol, loss, atLeast, atTarget } = row;
    const next = numbers(7);
    for (let warm = 0; warm < 10; warm += 1) next();
    const lossy: Network = (ttl, nth, at) => (ttl >= 4 && next() < loss ? null : line(7)(ttl, nth, at));
    const sums = Array.from({ length: 7 }, () => ({ shown: 0, count: 0, unknown: 0 }));
    for (let round = 0; round < WALKS; round += 1) {
      const timing = timingOf({ protocol, maxHops: 30, queries });
      const { hops } = walk(lossy, timing, END_TYPES[protocol]);
      const losses = hopLoss(hops, true);
      expect(losses.slice(0, 3)).toEqual([0, 0, 0]);
      for (const [index, shown] of losses.slice(0, 7).entries()) {
        const sum = sums[index];
        if (sum === undefined || shown === 100) continue;
        if (shown === null) sum.unknown += 1;
        else [sum.shown, sum.count] = [sum.shown + shown, sum.count + 1];
      }
    }
    const means = sums.slice(3).map(({ shown, count }) => shown / count);
    for (const mean of means) expect(mean).toBeGreaterThanOrEqual(atLeast);
    for (const mean of means) expect(mean).toBeLessThan(atTarget[1]);
    expect(means.at(-1)).toBeGreaterThan(atTarget[0]);
    for (const { unknown } of sums) expect(unknown).toBeLessThan(WALKS / 4);
  });
});

describe("a router's limit on answers", () => {
  /** A router that answers once a second after a burst, as Linux does. */
  function limiter(burst: number): (at: number) => boolean {
    let [tokens, last] = [burst, 0];
    return (at) => {
      tokens = Math.min(burst, tokens + (at - last) / 1_000);
      last = at;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    };
  }

  it.each(["icmp", "udp", "tcp"] as const)(
    "is no loss, not even where every hop has it and no burst, by %s",
    (protocol) => {
      const limits = Array.from({ length: 5 }, () => limiter(1));
      const limited: Network = (ttl, nth, at) => {
        const isFree = protocol !== "udp" && ttl >= 4;
        return isFree || limits[Math.min(ttl, 4)]?.(at) === true ? line(4)(ttl, nth, at) : null;
      };
      const { hops, reached } = walk(limited, timingOf({ protocol, maxHops: 30, queries: 5 }), END_TYPES[protocol]);
      expect(reached).toBe(true);
      expect(hopLoss(hops, true)).toEqual([0, 0, 0, 0]);
      expect(hops.map(({ evidence }) => evidence.unclear)).toEqual([0, 0, 0, 0]);
    },
  );

  it("cannot be distinguished from loss if a router with a stricter limit is the last that answers", () => {
    const harsh: Network = (ttl, nth, at) => (ttl > 2 || (ttl === 2 && nth % 3 !== 1) ? null : line(9)(ttl, nth, at));
    const { hops } = walk(harsh, timingOf({ protocol: "udp", maxHops: 30, queries: 3 }));
    expect(hopLoss(hops, false)).toEqual([0, null, 100, 100, 100, 100, 100]);
  });

  it("produces no rows for probes that were never sent", () => {
    const { hops } = walk((ttl, nth, at) => (ttl === 2 ? null : line(3)(ttl, nth, at)), { queries: 5 });
    expect(hops.map(({ replies, sent }) => [replies.length, sent >= replies.length])).toEqual([
      [5, true],
      [3, true],
      [5, true],
    ]);
  });
});

describe("an end of the path that limits its answers and answers only a probe that overshot", () => {
  const timing = timingOf({ protocol: "udp", maxHops: 30, queries: 3 });
  /** Three routers, of which some are silent, then an end that answers only probes of TTL 5, with this TTL in the quote. */
  const limited =
    (passage: Passage, ttlLeft: number, silent: readonly number[] = []): Network =>
    (ttl, nth, at) => {
      if (ttl < 4) return silent.includes(ttl) ? null : line(9)(ttl, nth, at);
      return ttl === 5 ? { ip: "t", ms: 30, passage, ttlLeft } : null;
    };

  it.each(["reached", "unreachable"] as const)("is at the distance that the quoted probe shows (%s)", (passage) => {
    const { lines, hops } = walk(limited(passage, 2), timing, END_TYPES.udp);
    expect(lines).toEqual(["a a a", "b b b", "c c c", expect.stringMatching(/^t/)]);
    // Its silence is what a limit explains too. Echoes show which it was.
    const echoes = { sampled: 20, lost: 0, isTargetLimited: true };
    if (passage === "reached") expect(hopLoss(hops, true, echoes)).toEqual([0, 0, 0, 0]);
  });

  it("is at the first hop that was asked for, if it is nearer", () => {
    const { lines } = walk(limited("reached", 2), { ...timing, firstHop: 5 }, END_TYPES.udp);
    expect(lines).toEqual([expect.stringMatching(/^t/)]);
  });

  it.each([
    ["a router answered at that distance", 4, []],
    ["the quote has the whole TTL, as it was sent", 5, [1, 2, 3]],
    ["the quote has more than the whole TTL", 64, [1, 2, 3]],
    ["the quote has no TTL left", 0, []],
  ])("is at the distance of the answered probe if %s", (_why, ttlLeft, silent) => {
    const { hops } = walk(limited("reached", ttlLeft, silent), timing, END_TYPES.udp);
    expect(hops).toHaveLength(5);
  });
});

describe("probes that overshot the target", () => {
  it("count with their answers, so nothing is lost at a target that answers everything", () => {
    const far: Network = (ttl) => ({
      ip: ttl < 3 ? `r${ttl}` : "t",
      ms: 150,
      passage: ttl < 3 ? "passing" : "reached",
    });
    const { hops } = walk(far);
    const target = hops.at(-1);
    expect(target?.sent).toBeGreaterThan(3);
    expect(target?.roundTripsMs.length).toBe(target?.sent);
    expect(hopLoss(hops, true)).toEqual([0, 0, 0]);
  });
});
