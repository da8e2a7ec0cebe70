import type { Queryable } from "#control-plane/database/connect.ts";
import { DAY_MS, HOUR_MS, hoursBetween, nextStart, startOf, type Span } from "#control-plane/history/period.ts";
import { FINE_STEP_MS, joinPoints, stepOf, type Point } from "#control-plane/history/points.ts";
import { countHours, readDays, readHours } from "#control-plane/history/read/store.ts";
import { readProgress } from "#control-plane/history/store.ts";

/**
 * Reads the history of a monitor as points. Steps are whole: the first contains `from`, the last the time before `to`,
 * or `now` if that is earlier. Periods whose data was deleted after its retention have no points.
 */
export async function readPoints(
  sql: Queryable,
  monitorId: number,
  { from, to }: Span,
  now: Date,
): Promise<readonly Point[]> {
  const stepMs = stepOf({ from, to });
  const first = startOf(from, stepMs);
  const end = nextStart(Math.min(to, now.getTime() + 1), stepMs);
  if (end <= first) return [];
  if (stepMs === FINE_STEP_MS) {
    const rows = await countHours(sql, monitorId, hoursBetween(startOf(first, HOUR_MS), end), "5 minutes");
    const wanted = rows.filter(({ at }) => at.getTime() >= first && at.getTime() < end);
    return joinPoints(wanted, stepMs);
  }
  const { openHour, openDay } = await readProgress(sql, now);
  const days = stepMs === DAY_MS ? { from: first, to: clamp(openDay, first, end) } : { from: first, to: first };
  const hours = { from: days.to, to: clamp(openHour, days.to, end) };
  const rows = [
    ...(days.to > days.from ? await readDays(sql, monitorId, new Date(days.from), new Date(days.to)) : []),
    ...(await readHours(sql, monitorId, hoursBetween(hours.from, hours.to))),
    ...(await countHours(sql, monitorId, hoursBetween(hours.to, Math.min(end, now.getTime() + 1)), "1 hour")),
  ];
  return joinPoints(rows, stepMs);
}

function clamp(value: number, from: number, to: number): number {
  return Math.min(Math.max(value, from), to);
}
