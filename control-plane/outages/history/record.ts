import type { Transaction } from "#control-plane/core/database/connect.ts";
import { wakeComposites } from "#control-plane/outages/composites.ts";
import { DAY_MS, HOUR_MS, nextStart, startOf, startsBetween } from "#control-plane/outages/history/period.ts";
import { insertChanges, markHours, type NewChange } from "#control-plane/outages/history/store.ts";

/**
 * Milliseconds after the end of an hour or day from which writers mark it for another roll-up. The roll-up computes it
 * a minute later than that (SETTLED_MS), and a transaction that saw no reason to mark it has ended by then.
 */
const LATE_MS = 60_000;
/** Days that a late change can affect: those of the longest retention. */
const MOST_DAYS = 731;

/**
 * Records new statuses of different monitors, each from its time on, in the transaction that changes their states, and
 * lets the composites that follow them be judged again. `now` is when they are recorded. It sends nothing without changes.
 */
export async function addStatusChanges(tx: Transaction, changes: readonly NewChange[], now: Date): Promise<void> {
  if (changes.length === 0) return;
  await insertChanges(tx, changes);
  await wakeComposites(
    tx,
    changes.map(({ monitorId }) => monitorId),
  );
  const late = changes.filter(({ at }) => isLate(at, DAY_MS, now));
  if (late.length === 0) return;
  // The status lasts from then on, so every later day is wrong too. A mark on one hour of a day includes the day.
  const marks = late.flatMap(({ monitorId, at }) => {
    const days = startsBetween(startOf(at.getTime(), DAY_MS), nextStart(now.getTime(), DAY_MS), DAY_MS);
    return days.slice(-MOST_DAYS).map((day) => ({ monitorId, hour: new Date(day) }));
  });
  await markHours(tx, marks);
}

/** Reports whether checks are recorded so late that noteLateChecks marks their hours. */
export function areLate(checks: readonly { readonly checkedAt: Date }[], now: Date): boolean {
  return checks.some(({ checkedAt }) => isLate(checkedAt, HOUR_MS, now));
}

/**
 * Marks the hours of checks that are recorded so late that their hour can be computed already, for example after the
 * database was away. Call it in the transaction that records the checks. It sends nothing if none is late.
 */
export async function noteLateChecks(
  tx: Transaction,
  checks: readonly { readonly monitorId: number; readonly checkedAt: Date }[],
  now: Date,
): Promise<void> {
  const late = checks.filter(({ checkedAt }) => isLate(checkedAt, HOUR_MS, now));
  if (late.length === 0) return;
  await markHours(
    tx,
    late.map(({ monitorId, checkedAt }) => ({ monitorId, hour: new Date(startOf(checkedAt.getTime(), HOUR_MS)) })),
  );
}

function isLate(at: Date, stepMs: number, now: Date): boolean {
  return startOf(at.getTime(), stepMs) + stepMs + LATE_MS < now.getTime();
}
