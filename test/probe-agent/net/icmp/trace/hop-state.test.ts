import { describe, expect, it } from "vitest";
import { createAnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import { hopStateAt, isSettled, needsTrial, readyAt } from "#probe-agent/net/icmp/trace/plan.ts";
import { timingOf } from "#probe-agent/net/icmp/trace/trace-timing.ts";
import { createTraceProgress, lastHop, recordAnswer, recordProbe } from "#probe-agent/net/icmp/trace/progress.ts";

const timing = timingOf({ protocol: "icmp", maxHops: 30, queries: 3 });
const begin = () => createTraceProgress(timing, createAnswerLedger());
const reply = { ip: "198.18.0.1", icmpType: 11, icmpCode: 0 };

describe("the state of a hop", () => {
  it("counts a probe as open until it is silent", () => {
    const progress = begin();
    recordProbe(progress, 1, { ttl: 1, at: 0, isTrial: false });
    expect(hopStateAt(progress, 1, 999)).toMatchObject({ tries: 1, answers: 0, open: 1, silentAt: 1_000 });
    expect(hopStateAt(progress, 1, 1_000)).toMatchObject({ open: 0, silentAt: Infinity });
  });

  it("counts the answers of probes that went past the target", () => {
    const progress = begin();
    for (const ttl of [1, 2, 3]) recordProbe(progress, ttl, { ttl, at: ttl, isTrial: false });
    for (const probe of [1, 2, 3]) recordAnswer(progress, probe, { reply, passage: "reached", ttlLeft: null, at: 10 });
    expect(lastHop(progress)).toBe(1);
    expect(hopStateAt(progress, 1, 11)).toMatchObject({ tries: 3, answers: 3, open: 0 });
    expect(isSettled(progress, hopStateAt(progress, 1, 11), 11)).toBe(true);
  });

  it("is ready immediately for its first probe, unless the window is full", () => {
    const progress = begin();
    const state = hopStateAt(progress, 1, 0);
    expect([0, timing.window].map((unanswered) => readyAt(progress, state, unanswered, 0))).toEqual([
      -Infinity,
      Infinity,
    ]);
  });

  it("counts no answer twice", () => {
    const progress = begin();
    recordProbe(progress, 1, { ttl: 1, at: 0, isTrial: false });
    const answers = [1, 1, 2].map((probe) =>
      recordAnswer(progress, probe, { reply, passage: "passing", ttlLeft: null, at: 4 }),
    );
    expect(answers).toEqual([true, false, false]);
  });
});

it("asks for trials until enough are valid or too many are invalid", () => {
  const bounds = { trials: 1, extraTrials: 2 };
  expect(needsTrial({ sent: 0, valid: [], open: 0 }, bounds)).toBe(true);
  expect(needsTrial({ sent: 1, valid: [], open: 1 }, bounds)).toBe(false);
  expect(needsTrial({ sent: 3, valid: [], open: 0 }, bounds)).toBe(false);
});
