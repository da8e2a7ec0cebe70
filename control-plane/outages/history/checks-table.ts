import type { DayTable } from "#control-plane/core/database/partitions/days.ts";

/** The table of checks, one partition a day. */
export const CHECKS: DayTable = {
  name: "checks",
  column: "checked_at",
  lock: 8_026_134_478_127,
  // A day is written once and read as a whole when it is an hour old. A vacuum after every fifth of its rows would only
  // write its pages again.
  storage: "autovacuum_vacuum_insert_threshold = -1",
};
