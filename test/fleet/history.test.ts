import { describe, expect, it } from "vitest";
import { checkHistory } from "#test/fleet/history.ts";
import {
  noteOf,
  readNotes,
  type CallMade,
  type History,
  type JobSeen,
  type ResultSent,
  type RowAnswered,
} from "#test/fleet/records.ts";

const seen = (jobId: string, attempt: number, agentId: string): JobSeen => ({ jobId, attempt, agentId });
const sent = (job: JobSeen, kind: ResultSent["kind"] = "true", sending = `of ${job.jobId}`): ResultSent => ({
  ...job,
  kind,
  sending,
});
const rowBy = ({ sending, jobId, attempt, agentId }: ResultSent, over: Partial<RowAnswered> = {}): RowAnswered => ({
  region: "r1",
  probeId: agentId,
  durationMs: 12,
  proof: { sending, jobId, attempt, agentId, spentMs: 10 },
  failure: null,
  ...over,
});
const call = (...rows: RowAnswered[]): CallMade => ({ asked: rows.map(({ region }) => region), status: 200, rows });

const FIRST = seen("j1", 1, "a1");
const RESULT = sent(FIRST);
const GOOD: History = { calls: [call(rowBy(RESULT))], seen: [FIRST], sent: [RESULT] };

/** Returns the complaints about a history, without their subjects. */
function complaints(over: Partial<History>): string[] {
  const { violations, examples } = checkHistory({ ...GOOD, ...over });
  expect(examples).toHaveLength(violations);
  return examples.map((example) => example.split(": ", 1)[0] ?? "");
}

describe("the history checker", () => {
  it("finds nothing in a correct history", () => {
    expect(checkHistory(GOOD)).toEqual({
      rows: 1,
      unavailable: {},
      untouched: [2],
      moved: [],
      restarted: 0,
      violations: 0,
      examples: [],
    });
  });

  it("separates the time of jobs that were dispatched again", () => {
    const again = seen("j1", 2, "a2");
    const declined = [seen("j2", 1, "a1"), seen("j2", 1, "a2")] as const;
    const results = [sent(again), sent(declined[1])] as const;
    const rows = [rowBy(results[0], { durationMs: 510 }), rowBy(results[1], { durationMs: 15, region: "r2" })];
    const history = { calls: [call(...rows)], seen: [FIRST, again, ...declined], sent: results };
    expect(checkHistory(history)).toMatchObject({ untouched: [], moved: [500, 5], restarted: 1, violations: 0 });
  });

  it("counts rows without an agent by their code, and accepts no other failure", () => {
    const failed = (failure: string) => rowBy(RESULT, { proof: null, failure });
    const calls = [call(failed("probe_unavailable probe_lost")), call(failed("request_failed timeout"))];
    const verdict = checkHistory({ ...GOOD, calls });
    expect(verdict.unavailable).toEqual({ "probe_unavailable probe_lost": 1, "request_failed timeout": 1 });
    expect(verdict.violations).toBe(1);
    expect(verdict.examples[0]).toMatch(/^failed though agents do not fail: .*request_failed timeout/);
  });

  it("accepts a row whose two agents were lost, once for each job that two agents received", () => {
    const lost = rowBy(sent(seen("j2", 2, "a2")), { proof: null, failure: "request_failed probes_lost", region: "r2" });
    const twice = [seen("j2", 1, "a1"), seen("j2", 2, "a2")];
    const calls = [call(rowBy(RESULT)), call(lost)];
    const wrong = ["said to be lost with two agents, but no such job was"];
    expect(complaints({ calls, seen: [FIRST, ...twice] })).toEqual([]);
    expect(complaints({ calls: [...calls, call(lost)], seen: [FIRST, ...twice] })).toEqual(wrong);
    expect(complaints({ calls, seen: [FIRST, seen("j2", 1, "a1"), seen("j2", 2, "a1")] })).toEqual(wrong);
    expect(complaints({ calls, seen: [FIRST, seen("j2", 1, "a1"), seen("j2", 2, "a3")] })).toEqual(wrong);
    const answered = sent(twice[1] as JobSeen);
    expect(
      complaints({ calls: [...calls, call(rowBy(answered))], seen: [FIRST, ...twice], sent: [RESULT, answered] }),
    ).toEqual(wrong);
  });

  it("requires every call and every row", () => {
    expect(complaints({ calls: [{ asked: ["r1"], status: null, rows: [] }] })).toEqual(["a call without an answer"]);
    expect(complaints({ calls: [{ asked: ["r1"], status: 503, rows: [] }] })).toEqual(["a call that was refused"]);
    const row = rowBy(RESULT);
    const wrong = ["rows that are not those asked for"];
    expect(complaints({ calls: [{ asked: ["r1", "r2"], status: 200, rows: [row] }] })).toEqual(wrong);
    expect(complaints({ calls: [{ asked: ["r2"], status: 200, rows: [row] }] })).toEqual(wrong);
    const failed = { ...row, proof: null, failure: "probe_unavailable no_probe" };
    expect(complaints({ calls: [{ asked: ["r1"], status: 200, rows: [row, failed] }] })).toEqual(wrong);
  });

  it("detects one job in two rows", () => {
    expect(complaints({ calls: [call(rowBy(RESULT)), call(rowBy(RESULT))] })).toEqual(["one job answered two rows"]);
  });

  it.each(["duplicate", "late", "forged"] as const)("detects a %s result in an answer", (kind) => {
    expect(complaints({ sent: [sent(FIRST, kind)] })).toEqual([`a ${kind} result answered`]);
  });

  it("detects an earlier attempt that is answered after a later one was dispatched", () => {
    expect(complaints({ seen: [FIRST, seen("j1", 2, "a2")] })).toEqual(["an earlier attempt answered"]);
  });

  it("detects an answer of an agent for a job, or an attempt, that it never received", () => {
    const never = ["answered by an agent that never received the job"];
    expect(complaints({ seen: [] })).toEqual(never);
    expect(complaints({ seen: [seen("j1", 1, "a2")] })).toEqual(never);
    expect(complaints({ seen: [seen("j1", 2, "a1")] })).toEqual(never);
  });

  it("detects a result that no agent sent, or that was sent for another job, attempt or agent", () => {
    expect(complaints({ sent: [] })).toEqual(["a result that nobody sent"]);
    for (const other of [seen("j2", 1, "a1"), seen("j1", 2, "a1"), seen("j1", 1, "a2")]) {
      expect(complaints({ sent: [sent(other, "true", RESULT.sending)] })).toEqual([
        "a result that was sent for something else",
      ]);
    }
  });

  it("detects a result under another agent's name", () => {
    expect(complaints({ calls: [call(rowBy(RESULT, { probeId: "a2" }))] })).toEqual([
      "one agent's result under another's name",
    ]);
  });
});

describe("the notes of agents", () => {
  it("are read as they were written, except for a last line that a kill cut off", () => {
    const text = noteOf(FIRST) + noteOf(RESULT) + noteOf(FIRST).slice(0, 4);
    expect(readNotes(text.replaceAll("of j1", "1-1"))).toEqual({ seen: [FIRST], sent: [sent(FIRST, "true", "1-1")] });
  });
});
