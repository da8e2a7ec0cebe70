import { describe, expect, it } from "vitest";
import { planRound, type DueRow } from "#control-plane/watching/evidence/claims/plan.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

function row(incidentId: number, over: Partial<DueRow> = {}): DueRow {
  const host = `host-${incidentId}.example`;
  const causeKey = `timeout ${host}`;
  return { incidentId, accountId: 1, host, causeCode: "timeout", causeKey, confirmedAt: NOW, attempts: 0, ...over };
}

/** A plan with the ids of its rows only. */
function plan(due: readonly DueRow[], known: readonly DueRow[], room: number, now: number) {
  const { gather, shared, failed } = planRound(due, known, room, now);
  return {
    gather: idsOf(gather),
    shared: shared.map(({ row: { incidentId }, leader }) => ({ incidentId, sharedWith: leader.incidentId })),
    failed: failed.map(({ row: { incidentId }, reason, similar }) => {
      return { incidentId, reason, similar: similar?.incidentId ?? null };
    }),
  };
}

const idsOf = (rows: readonly { readonly incidentId: number }[]): readonly number[] =>
  rows.map(({ incidentId }) => incidentId);

describe("a round", () => {
  it("gathers for the first outage of a cause, and the others share it", () => {
    const due = Array.from({ length: 1_000 }, (_, index) => row(1_000 - index, { causeKey: "timeout 192.0.2.1" }));
    const { gather, shared, failed } = plan(due, [], 8, NOW);
    expect(gather).toEqual([1]);
    expect(shared).toHaveLength(999);
    expect(new Set(shared.map(({ sharedWith }) => sharedWith))).toEqual(new Set([1]));
    expect(failed).toEqual([]);
  });

  it("gathers for each of a few causes", () => {
    expect(plan([row(1), row(2), row(3)], [], 8, NOW).gather).toEqual([1, 2, 3]);
  });

  it("gathers at most 10 times for an account in a minute; for more, one with the same word of cause is named", () => {
    const known = Array.from({ length: 10 }, (_, index) => row(index + 1));
    const { gather, shared, failed } = plan([row(11), row(12, { causeCode: "connect_refused" })], known, 8, NOW);
    expect(gather).toEqual([]);
    expect(shared).toEqual([]);
    expect(failed).toEqual([
      { incidentId: 11, reason: "too_many", similar: 1 },
      { incidentId: 12, reason: "too_many", similar: null },
    ]);
  });

  it("shares nothing with an outage whose gathering ends without evidence in the same round", () => {
    const ended = row(1, { causeKey: "k", attempts: 2 });
    const { gather, shared, failed } = plan([ended, row(2, { causeKey: "k" })], [ended], 8, NOW);
    expect(failed).toEqual([{ incidentId: 1, reason: "interrupted", similar: null }]);
    expect(shared).toEqual([]);
    expect(gather).toEqual([2]);
  });

  it("examines one host at most three times a minute for different causes, and the rest gets nothing of them", () => {
    const due = ["expired", "timeout", "refused", "reset"].map((causeCode, index) => {
      return row(index + 1, { host: "a.example", causeCode, causeKey: `${causeCode} a.example` });
    });
    const { gather, shared, failed } = plan(due, [], 8, NOW);
    expect(gather).toEqual([1, 2, 3]);
    expect(shared).toEqual([]);
    expect(failed).toEqual([{ incidentId: 4, reason: "target_busy", similar: null }]);
  });

  it("gathers for each of two targets at one host with the same word of cause", () => {
    const due = [80, 81].map((port) => row(port, { host: "a.example", causeKey: `timeout a.example ${port}` }));
    expect(plan(due, [], 8, NOW)).toEqual({ gather: [80, 81], shared: [], failed: [] });
  });

  it("never shares between accounts, and examines one host at most three times a minute", () => {
    const due = [1, 2, 3, 4].map((id) => row(id, { accountId: id, host: "a.example", causeKey: "timeout a.example" }));
    const { gather, shared, failed } = plan(due, [], 8, NOW);
    expect(gather).toEqual([1, 2, 3]);
    expect(shared).toEqual([]);
    expect(failed).toEqual([{ incidentId: 4, reason: "target_busy", similar: null }]);
  });

  it("shares nothing that was confirmed more than a minute earlier", () => {
    const known = [row(1, { causeKey: "k", confirmedAt: NOW - 60_001 })];
    expect(plan([row(2, { causeKey: "k" })], known, 8, NOW).gather).toEqual([2]);
  });

  it("leaves what has no room for the next one, and gives it up after two minutes", () => {
    expect(plan([row(1)], [], 0, NOW)).toEqual({ gather: [], shared: [], failed: [] });
    const late = plan([row(1)], [], 8, NOW + 120_001);
    expect(late.failed).toEqual([{ incidentId: 1, reason: "too_late", similar: null }]);
  });

  it("repeats what was interrupted once, although its host is busy", () => {
    const known = [row(1, { attempts: 1 })];
    expect(plan([row(1, { attempts: 1 })], known, 8, NOW).gather).toEqual([1]);
    const { failed } = plan([row(1, { attempts: 2 })], known, 8, NOW);
    expect(failed).toEqual([{ incidentId: 1, reason: "interrupted", similar: null }]);
  });
});
