import { describe, expect, it } from "vitest";
import { createTimeCheck, endOfWork, failureOf, judgeTime, wallFor } from "#probe-agent/threads/budget.ts";

const BUDGET = { processorMs: 8_000, wallMs: 14_000 };
const spent = (processorMs: number | null, wallMs: number, checkedMs = wallMs) => ({ processorMs, wallMs, checkedMs });

describe("the time of a thread's work", () => {
  it.each([
    ["goes on while it has not used its processor time", spent(7_999, 13_999), null],
    ["blames its input when it has", spent(8_000, 9_000), { kind: "too_slow" }],
    ["blames its input also when it has at the end of the wall", spent(8_000, 14_000), { kind: "too_slow" }],
    ["blames the probe when it did not get it", spent(0, 14_000), { kind: "overloaded", isHalfUsed: false }],
    ["says when it got less than half", spent(3_999, 14_000), { kind: "overloaded", isHalfUsed: false }],
    ["says when it got half", spent(4_000, 14_000), { kind: "overloaded", isHalfUsed: true }],
    ["counts checks where the processor time is not known", spent(null, 13_000, 8_000), { kind: "too_slow" }],
    ["goes on while a stopped process makes no checks", spent(null, 13_000, 100), null],
    [
      "blames the probe when too few checks were made",
      spent(null, 14_000, 100),
      { kind: "overloaded", isHalfUsed: false },
    ],
  ])("%s", (_what, time, end) => {
    expect(judgeTime(time, BUDGET)).toEqual(end);
  });

  it("compares with the wall where that is shorter, so that a page cannot hide behind a short job", () => {
    expect(judgeTime(spent(900, 1_000), { processorMs: 8_000, wallMs: 1_000 })).toEqual({
      kind: "overloaded",
      isHalfUsed: true,
    });
  });

  it("keeps a part of the job's time for its answer", () => {
    expect(endOfWork(30_000, 0)).toBe(29_000);
    expect(endOfWork(30_000, 29_000)).toBe(29_500);
  });

  it.each([
    ["half of a long job, so that another probe can be asked", 8_000, 30_000, 15_000],
    ["one and a half times the processor time of a shorter one", 8_000, 20_000, 12_000],
    ["all of a short one", 8_000, 5_000, 5_000],
    ["ten minutes of a job without an end", 8_000, Infinity, 600_000],
  ])("may last %s", (_what, processorMs, leftMs, wallMs) => {
    expect(wallFor(processorMs, leftMs)).toBe(wallMs);
  });

  it("becomes a failure of the analysis", () => {
    expect(failureOf({ kind: "too_slow" })).toEqual({ ok: false, reason: "too_slow" });
    const overloaded = { ok: false, reason: "overloaded", isHalfUsed: true };
    expect(failureOf({ kind: "overloaded", isHalfUsed: true })).toEqual(overloaded);
  });
});

describe("a check of a thread", () => {
  it("counts from its start, and keeps the last time that was known", () => {
    let now = 5_000;
    let used: number | null = 700;
    const watch = createTimeCheck({ processorMs: () => used }, { monotonic: () => now }, BUDGET);
    used = 8_600;
    expect(watch.check()).toBeNull();
    expect(watch.usedMs()).toBe(7_900);
    used = null;
    expect(watch.check()).toBeNull();
    expect(watch.usedMs()).toBe(7_900);
    used = 8_700;
    expect(watch.check()).toEqual({ kind: "too_slow" });
    used = 1_700;
    now = 19_000;
    expect(watch.check()).toEqual({ kind: "overloaded", isHalfUsed: false });
  });

  it("counts checks where the processor time is not known", () => {
    const watch = createTimeCheck(
      { processorMs: () => null },
      { monotonic: () => 0 },
      { processorMs: 300, wallMs: 14_000 },
    );
    expect([watch.check(), watch.check(), watch.check()]).toEqual([null, null, { kind: "too_slow" }]);
    expect(watch.usedMs()).toBe(300);
  });
});
