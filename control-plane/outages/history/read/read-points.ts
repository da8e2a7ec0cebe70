import type { Queryable } from "#control-plane/core/database/connect.ts";
import { DAY_MS, HOUR_MS, hoursBetween, nextStart, startOf, type Span } from "#control-plane/outages/history/period.ts";
import { joinPoints, stepOf, type Point } from "#control-plane/outages/history/points.ts";
import { countHours, readDays, readHours, type PointRow } from "#control-plane/outages/history/read/store.ts";
import { readProgress } from "#control-plane/outages/history/store.ts";

/**
 * Reads the history of a monitor as points. Steps are whole: the first contains `from`, the last the time before `to`,
 * or `now` if that is earlier. Periods whose data was deleted after its retention have no points.
 */
export async function readPoints(sql: Queryable, monitorId: number, range: Span, now: Date): Promise<readonly Point[]> {
  const stepMs = stepOf(range);
  return joinPoints(await readSteps(sql, monitorId, range, stepMs, now), stepMs);
}

/**
 * Reads what points of a range are joined from: counted checks of steps, which are a fraction of an hour or of a day, or
 * of parts of them. At most four short statements.
 */
export async function readSteps(
  sql: Queryable,
  monitorId: number,
  { from, to }: Span,
  stepMs: number,
  now: Date,
): Promise<readonly PointRow[]> {
  const first = startOf(from, stepMs);
  const end = nextStart(Math.min(to, now.getTime() + 1), stepMs);
  if (end <= first) return [];
  if (stepMs < HOUR_MS) {
    const rows = await countHours(sql, monitorId, hoursBetween(startOf(first, HOUR_MS), end), stepMs);
    return rows.filter(({ at }) => at.getTime() >= first && at.getTime() < end);
  }
  const { openHour, openDay } = await readProgress(sql, now);
  const days = stepMs === DAY_MS ? { from: first, to: clamp(openDay, first, end) } : { from: first, to: first };
  const hours = { from: days.to, to: clamp(openHour, days.to, end) };
  return [
    ...(days.to > days.from ? await readDays(sql, monitorId, new Date(days.from), new Date(days.to)) : []),
    ...(await readHours(sql, monitorId, hoursBetween(hours.from, hours.to))),
    ...(await countHours(sql, monitorId, hoursBetween(hours.to, Math.min(end, now.getTime() + 1)), HOUR_MS)),
  ];
}

function clamp(value: number, from: number, to: number): number {
  return Math.min(Math.max(value, from), to);
}
