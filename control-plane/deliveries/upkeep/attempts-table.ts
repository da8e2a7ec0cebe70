import { DAY_MS, type DayTable } from "#control-plane/database/partitions/days.ts";

/** The table of attempts, one partition a day. */
export const ATTEMPTS: DayTable = { name: "delivery_attempts", column: "started_at", lock: 4_417_093_820_553 };

/** Least age at which a day is dropped, milliseconds: longer than any delivery is repeated, whose attempts stay with it. */
const LEAST_KEPT_MS = 7 * DAY_MS;

/**
 * Returns the age at which a day of attempts is dropped, given the retention of ended deliveries, in milliseconds. Attempts
 * are deleted with their delivery; the drop gives their space back, and removes what has no delivery any more.
 */
export function attemptsKept(retentionMs: number): number {
  return Math.max(retentionMs, LEAST_KEPT_MS);
}
