import type { Sql } from "#control-plane/core/database/connect.ts";
import { DAY_MS, HOUR_MS, hoursBetween, startOf } from "#control-plane/outages/history/period.ts";
import type { HistoryMonitor } from "#control-plane/outages/history/ports.ts";
import { readDaysOfChecks, readNewest, readProgress, type StoredCheck } from "#control-plane/outages/history/store.ts";

/** A check as the API shows it. */
export interface RecentCheck {
  readonly id: number;
  /** ISO 8601: when the check began. */
  readonly checked_at: string;
  readonly location: string;
  readonly status: "up" | "down" | "unknown" | "degraded";
  readonly response_time_ms: number | null;
  readonly http_status_code: number | null;
  /** null: no fault. */
  readonly error: { readonly stage: string; readonly source: string; readonly reason: string } | null;
}

/**
 * How far back the newest checks are searched at first, in milliseconds: enough for a monitor with an interval of a
 * minute. Each check is on another page, so a shorter search reads far fewer pages.
 */
const NEAR_MS = 25 * 60_000;
/** How far back they are searched then, in milliseconds: enough for an interval of five minutes. */
const FAR_MS = 3 * HOUR_MS;
/** Hours after the running one, for checks recorded while the clock was ahead. */
const AHEAD_HOURS = 1;
/** How long before its creation a monitor can have checks, in milliseconds: the clocks of two replicas differ. */
const SKEW_MS = HOUR_MS;

/**
 * Returns the newest checks of a monitor, newest first, re-checks included: one or two short statements for most
 * monitors, and for slow or paused ones another that visits only days on which the monitor has checks.
 */
export async function recentChecks(
  sql: Sql,
  { id: monitorId, createdAt }: Pick<HistoryMonitor, "id" | "createdAt">,
  limit: number,
  now: Date,
): Promise<readonly RecentCheck[]> {
  const begin = startOf(createdAt.getTime() - SKEW_MS, HOUR_MS);
  const end = startOf(now.getTime(), HOUR_MS) + (1 + AHEAD_HOURS) * HOUR_MS;
  const near = startOf(now.getTime() - NEAR_MS, HOUR_MS);
  const far = startOf(now.getTime() - FAR_MS, HOUR_MS);
  // A new monitor has fewer checks than wanted, probably: one statement searches all of its life.
  const isNew = now.getTime() - createdAt.getTime() < NEAR_MS;
  for (const from of isNew ? [begin] : [near, Math.max(far, begin)]) {
    const found = await readNewest(sql, monitorId, hoursBetween(from, end), limit);
    if (found.length >= limit || from <= begin) return found.map(showCheck);
  }
  const { openDay } = await readProgress(sql, now);
  const days = await readDaysOfChecks(sql, monitorId, limit);
  // Before the first roll-up every hour since the creation can have checks.
  const open = Math.max(openDay, begin);
  const hours = [
    ...days.filter((day) => day < openDay).flatMap((day) => hoursBetween(day, day + DAY_MS)),
    ...hoursBetween(open, end),
  ];
  return (await readNewest(sql, monitorId, hours, limit)).map(showCheck);
}

const STATUS_OF: Readonly<Record<number, RecentCheck["status"]>> = { 1: "up", 2: "down", 3: "unknown", 4: "degraded" };

/** Returns a stored check as the API shows it. */
export function showCheck(check: StoredCheck): RecentCheck {
  return {
    id: check.id,
    checked_at: check.checkedAt.toISOString(),
    location: check.location,
    status: STATUS_OF[check.status] ?? "unknown",
    response_time_ms: check.responseMs,
    http_status_code: check.httpStatus,
    error: check.fault === null ? null : showFault(check.fault),
  };
}

/** Shows the fixed words of a fault. Its message is part of the incident's cause. */
function showFault(fault: string): RecentCheck["error"] {
  const { stage, source, reason } = JSON.parse(fault) as Readonly<Record<"stage" | "source" | "reason", string>>;
  return { stage, source, reason };
}
