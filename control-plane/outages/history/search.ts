import type { Sql } from "#control-plane/core/database/connect.ts";
import { DAY_MS, HOUR_MS, hoursBetween, startOf } from "#control-plane/outages/history/period.ts";
import { findChecks } from "#control-plane/outages/history/store.ts";
import { showCheck, type RecentCheck } from "#control-plane/outages/history/recent.ts";

/** A place between two checks of a monitor. */
export interface CheckCursor {
  /** Unix milliseconds. */
  readonly at: number;
  /** Id of the check there; 0: before all checks of this time. */
  readonly id: number;
}

/** Which checks are wanted; null: all. */
export interface CheckSearch {
  readonly location: string | null;
  readonly status: RecentCheck["status"] | null;
  /** The newest checks before this one; null: the newest of all, or those after `after`. */
  readonly before: CheckCursor | null;
  /** The oldest checks after this one. */
  readonly after: CheckCursor | null;
}

/** A page of checks. */
export interface FoundChecks {
  /** Newest first. */
  readonly checks: readonly RecentCheck[];
  /** `before` of the next older page; null if there is none. */
  readonly older: CheckCursor | null;
  /** `after` of the next newer page; null if there is none. */
  readonly newer: CheckCursor | null;
  /** Unix milliseconds: the search ended here, before the page was full; null if it did not. */
  readonly searchedTo: number | null;
}

/** How far one search goes for an interval of a minute, and at most, in milliseconds: it looks into each hour. */
const SPAN_MS = 2 * DAY_MS;
const LONGEST_SPAN_MS = 30 * DAY_MS;
/** Checks can be recorded while the clock is ahead, and the clocks of two replicas differ. */
const SKEW_MS = HOUR_MS;

/**
 * Searches the checks of a monitor, one page at a time, in one statement over a bounded time: its checks are spread over
 * all pages of the table, and those that match a filter can be rare. The page says where the next search begins.
 */
export async function searchChecks(
  sql: Sql,
  { id: monitorId, createdAt, intervalMinutes }: SearchedMonitor,
  { before, after, location, status }: CheckSearch,
  limit: number,
  now: Date,
): Promise<FoundChecks> {
  const first = startOf(createdAt.getTime() - SKEW_MS, HOUR_MS);
  const end = startOf(now.getTime() + SKEW_MS, HOUR_MS) + HOUR_MS;
  const spanMs = Math.min(SPAN_MS * intervalMinutes, LONGEST_SPAN_MS);
  const isNewer = before === null && after !== null;
  const from = isNewer
    ? Math.max(first, startOf(after.at, HOUR_MS))
    : Math.max(first, startOf((before?.at ?? end) - spanMs, HOUR_MS));
  const to = isNewer ? Math.min(end, from + spanMs) : Math.min(end, startOf(before?.at ?? end, HOUR_MS) + HOUR_MS);
  const wanted = { monitorId, location, status: status === null ? null : NUMBER_OF[status], before, after };
  const found = await findChecks(sql, { ...wanted, hours: hoursBetween(from, to), limit, isNewer });
  const checks = (isNewer ? found.toReversed() : found).map(showCheck);
  const isFull = checks.length >= limit;
  const [newest, oldest] = [cursorOf(checks[0]), cursorOf(checks.at(-1))];
  if (isNewer) {
    const isBounded = !isFull && to < end;
    return {
      checks,
      older: oldest ?? { at: after.at, id: after.id + 1 },
      newer: isFull ? newest : isBounded ? { at: to, id: 0 } : null,
      searchedTo: isBounded ? to : null,
    };
  }
  const isBounded = !isFull && from > first;
  return {
    checks,
    older: isFull ? oldest : isBounded ? { at: from, id: 0 } : null,
    newer: before === null ? null : (newest ?? { at: before.at, id: Math.max(0, before.id - 1) }),
    searchedTo: isBounded ? from : null,
  };
}

/** What the search must know of a monitor. */
export interface SearchedMonitor {
  readonly id: number;
  readonly createdAt: Date;
  readonly intervalMinutes: number;
}

const NUMBER_OF = { up: 1, down: 2, unknown: 3, degraded: 4 } as const;

function cursorOf(check: RecentCheck | undefined): CheckCursor | null {
  return check === undefined ? null : { at: Date.parse(check.checked_at), id: check.id };
}
