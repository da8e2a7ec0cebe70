import type { DeliveryStatus, Outcome } from "#control-plane/notify/deliveries/delivery.ts";

/** Largest random addition to a delay of the schedule, as a part of the delay. */
const JITTER = 0.2;
/** How long a receiver may make the next attempt wait, milliseconds. */
const LONGEST_WAIT_MS = 3_600_000;
/** A delivery that is not attempted for this long after its due time is dead, milliseconds: 48 h. */
export const OVERDUE_MS = 48 * 3_600_000;
/** After a lost attempt its replica may still be about to store the result, milliseconds. */
const LOST_GRACE_MS = 5_000;

/** A finished attempt. */
interface FinishedAttempt {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly endedAt: Date;
  readonly outcome: Outcome;
}

/** How a delivery continues after an attempt. */
export interface Continuation {
  readonly status: Exclude<DeliveryStatus, "pending">;
  /** Time of the next attempt; null if the status is final. */
  readonly nextAttemptAt: Date | null;
}

/**
 * Decides how a delivery continues. `schedule` has one delay in milliseconds for each attempt; `jitter` returns a random
 * number from 0 to 1. A wait that the receiver asked for is respected up to an hour, and never shortens the schedule.
 */
export function continueAfter(
  { attempt, endedAt, outcome }: FinishedAttempt,
  schedule: readonly number[],
  jitter: () => number,
): Continuation {
  if (outcome.kind === "delivered") return { status: "delivered", nextAttemptAt: null };
  if (outcome.kind === "refused") return { status: "failed", nextAttemptAt: null };
  const delay = schedule[attempt];
  if (delay === undefined) return { status: "dead", nextAttemptAt: null };
  const wait = Math.max(delay * (1 + JITTER * jitter()), Math.min(outcome.waitMs ?? 0, LONGEST_WAIT_MS));
  return { status: "retrying", nextAttemptAt: new Date(endedAt.getTime() + wait) };
}

/** Age at which a message that is not delivered counts as late, in milliseconds. */
const LATE_MS = 60_000;

/** Reports whether a delivery is late with its next attempt, and was not with this one: it is true of one attempt. */
export function becomesLate(
  { createdAt, startedAt }: { readonly createdAt: Date; readonly startedAt: Date },
  { nextAttemptAt }: Continuation,
): boolean {
  const late = createdAt.getTime() + LATE_MS;
  return nextAttemptAt !== null && nextAttemptAt.getTime() >= late && startedAt.getTime() < late;
}

/** Outcome of an attempt whose replica stopped before it stored the result. The receiver may have got the message. */
export const LOST: Outcome = {
  kind: "retry",
  responseCode: null,
  code: "attempt_lost",
  message: "The process that made this attempt stopped before its result was stored.",
};

/** Decides how a delivery continues whose attempt was lost. The schedule counts from the end of the lease. */
export function continueAfterLoss(
  { attempt, leaseEndedAt }: { readonly attempt: number; readonly leaseEndedAt: Date },
  schedule: readonly number[],
  { now, jitter }: { readonly now: Date; readonly jitter: number },
): Continuation {
  const next = continueAfter({ attempt, endedAt: leaseEndedAt, outcome: LOST }, schedule, () => jitter);
  if (next.nextAttemptAt === null) return next;
  if (isOverdue(next.nextAttemptAt, now)) return { status: "dead", nextAttemptAt: null };
  const earliest = now.getTime() + LOST_GRACE_MS;
  return { ...next, nextAttemptAt: new Date(Math.max(next.nextAttemptAt.getTime(), earliest)) };
}

/** Reports whether a delivery is overdue by OVERDUE_MS or more. Such a delivery is not attempted any more. */
export function isOverdue(dueAt: Date, now: Date): boolean {
  return now.getTime() - dueAt.getTime() >= OVERDUE_MS;
}
