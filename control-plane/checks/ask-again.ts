import { isRecord } from "#shared/text/is-record.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { JobAnswer } from "#control-plane/checks/dispatch/job.ts";

/** The answer of an agent that ran the check. */
type Answered = Extract<JobAnswer, { kind: "outcome" }>;

/** Another agent is asked only with at least this part of the check's time. */
const LEAST_PART = 1 / 4;

/**
 * Returns the time for asking another agent, in milliseconds, if the first one was overloaded and said that another one
 * may be asked; else null. `usedMs` is the part of the check's time (`deadlineMs`) that the first one took.
 */
export function timeForAnother(first: JobAnswer, deadlineMs: number, usedMs: number): number | null {
  if (first.kind !== "outcome" || first.outcome.status !== "failed" || first.outcome.repeatable !== true) return null;
  const leftMs = Math.floor(deadlineMs - usedMs);
  return leftMs >= Math.max(1, deadlineMs * LEAST_PART) ? leftMs : null;
}

/**
 * Chooses between the answer of an overloaded agent and that of the second one. A timeout of the second one proves
 * nothing, because it had less time than the caller gives the target.
 */
export function chooseAnswer(first: Answered, second: JobAnswer): JobAnswer {
  if (second.kind === "cancelled") return second;
  if (second.kind === "unavailable" || isTimeout(second.outcome)) return { ...first, attempt: first.attempt + 1 };
  return { ...second, attempt: first.attempt + second.attempt };
}

function isTimeout(outcome: Outcome<unknown>): boolean {
  if (outcome.status === "failed") return outcome.reason === "timeout";
  if (outcome.status !== "ok" || !isRecord(outcome.data)) return false;
  // A monitor's check reports some timeouts in its result.
  const { verdict, fault } = outcome.data;
  return verdict === "down" && isRecord(fault) && fault["reason"] === "timeout";
}
