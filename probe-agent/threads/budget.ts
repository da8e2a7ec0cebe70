import type { Clock } from "#shared/time/clock.ts";
import type { AnalysisFailure } from "#probe-agent/toolkit/analyses.ts";
import { CHECK_INTERVAL_MS } from "#probe-agent/threads/thread.ts";

/** Limits of the work of one thread. */
interface Budget {
  /** Processor time that the work may take, in milliseconds. */
  readonly processorMs: number;
  /** Time by the clock within which the thread must get it, in milliseconds. */
  readonly wallMs: number;
}

/** Time that the work of a thread has taken so far, in milliseconds. */
interface Spent {
  /** null where the system does not tell it. */
  readonly processorMs: number | null;
  /** Time by the clock. */
  readonly wallMs: number;
  /** Time by the checks made. It does not advance while the whole process is stopped. */
  readonly checkedMs: number;
}

/**
 * How the time of a thread's work ended. too_slow: the work used its processor time, so its input is to blame.
 * overloaded: it did not get that time, so the probe is to blame; `isHalfUsed` tells whether it got half of it.
 */
export type TimeEnd = { readonly kind: "too_slow" } | { readonly kind: "overloaded"; readonly isHalfUsed: boolean };

/** The end of work that no thread has begun in time. */
export const NEVER_RUN: TimeEnd = { kind: "overloaded", isHalfUsed: false };

/** Part of a job's remaining time that is reserved for its answer, in milliseconds. It is at most half. */
const RESERVE_MS = 1000;
/** So much time by the clock, for each millisecond of processor time, is enough on a machine that is not overloaded. */
const WALL_FACTOR = 1.5;
/** Limit for jobs without a deadline, in milliseconds. */
const MAX_WALL_MS = 600_000;

/**
 * Decides whether the time of a thread's work has ended. Without a known processor time, the time by the checks takes
 * its place.
 */
export function judgeTime(spent: Spent, budget: Budget): TimeEnd | null {
  const used = usedOf(spent);
  if (used >= budget.processorMs) return { kind: "too_slow" };
  if (spent.wallMs < budget.wallMs) return null;
  return { kind: "overloaded", isHalfUsed: used * 2 >= Math.min(budget.processorMs, budget.wallMs) };
}

/** Returns the failure of work whose time has ended. */
export function failureOf(end: TimeEnd): AnalysisFailure {
  if (end.kind === "too_slow") return { ok: false, reason: "too_slow" };
  return { ok: false, reason: "overloaded", isHalfUsed: end.isHalfUsed };
}

/** Returns when the work for a job must end, on the monotonic clock in milliseconds. The rest is for its answer. */
export function endOfWork(deadline: number, now: number): number {
  return deadline - Math.min(RESERVE_MS, (deadline - now) / 2);
}

/**
 * Returns how long a thread may take by the clock for work of `processorMs`, if its job has `leftMs` left (milliseconds).
 * A thread that does not get its processor time is given up after half of the time, so that another probe can be asked.
 */
export function wallFor(processorMs: number, leftMs: number): number {
  return Math.min(Math.max(leftMs / 2, Math.min(leftMs, processorMs * WALL_FACTOR)), MAX_WALL_MS);
}

/** Watches the time of a thread at work. */
export interface TimeCheck {
  /** Called every CHECK_INTERVAL_MS. Null while there is time. */
  check(this: void): TimeEnd | null;
  /** Returns the processor time used up to the last check, in milliseconds; the time by the checks if it is not known. */
  usedMs(): number;
}

/** Creates the watch of a thread that begins its work now. */
export function createTimeCheck(
  { processorMs }: { processorMs(this: void): number | null },
  clock: Pick<Clock, "monotonic">,
  budget: Budget,
): TimeCheck {
  const startedAt = clock.monotonic();
  const before = processorMs();
  let spent: Spent = { processorMs: null, wallMs: 0, checkedMs: 0 };
  return {
    check() {
      const now = processorMs();
      spent = {
        // A thread that has ended has no processor time any more.
        processorMs: now === null || before === null ? spent.processorMs : now - before,
        wallMs: clock.monotonic() - startedAt,
        checkedMs: spent.checkedMs + CHECK_INTERVAL_MS,
      };
      return judgeTime(spent, budget);
    },
    usedMs: () => usedOf(spent),
  };
}

function usedOf({ processorMs, checkedMs }: Spent): number {
  return processorMs ?? checkedMs;
}
