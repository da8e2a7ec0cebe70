import type { Queryable } from "#control-plane/database/connect.ts";
import { readMaintenance } from "#control-plane/history/maintenance.ts";
import { HOUR_MS, hoursBetween, startOf, startsBetween, type Span } from "#control-plane/history/period.ts";
import type { Pace } from "#control-plane/pace.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/history/ports.ts";
import { countSlowHours, readSlowHours, type SlowHour } from "#control-plane/history/read/store.ts";
import { readChanges, type Progress } from "#control-plane/history/store.ts";
import { measureTime, NO_TIME, type StatusChange, type TimeByStatus } from "#control-plane/history/timeline.ts";

/** Half an hour of a monitor. The time in each status is exact. */
export interface HalfHour extends Span, TimeByStatus {
  /** Whether a quarter or more of the successful checks of its whole hour were slower than the monitor allows. */
  readonly isSlow: boolean;
}

const HALF_HOUR_MS = HOUR_MS / 2;
/** Half hours that are read: those of a day. */
const COUNT = 48;
/** The part of an hour's checks from which on the hour is slow. */
const SLOW_PART = 0.25;

/**
 * Reads the last 48 half hours of UTC of each monitor up to now, oldest first, the running one last. Before its creation
 * a monitor has no time at all. Four statements, the port called once an account apart.
 */
export async function readHalfHours(
  sql: Queryable,
  monitors: readonly HistoryMonitor[],
  maintenanceBetween: MaintenanceBetween,
  now: Date,
  { openHour }: Pick<Progress, "openHour">,
  pace: Pace,
): Promise<ReadonlyMap<number, readonly HalfHour[]>> {
  if (monitors.length === 0) return new Map();
  const to = now.getTime();
  const from = startOf(to, HALF_HOUR_MS) - (COUNT - 1) * HALF_HOUR_MS;
  const lives = monitors.map(({ id, createdAt }) => {
    return { monitorId: id, from: Math.max(from, createdAt.getTime()), to };
  });
  const [changes, maintenance, slow] = await Promise.all([
    readChanges(sql, lives),
    readMaintenance(sql, maintenanceBetween, monitors, { from, to }),
    findSlowHours(
      sql,
      monitors.map(({ id }) => id),
      { from, to },
      openHour,
    ),
  ]);
  const starts = startsBetween(from, from + COUNT * HALF_HOUR_MS, HALF_HOUR_MS);
  const found = new Map<number, readonly HalfHour[]>();
  for (const [index, life] of lives.entries()) {
    if (pace.isDue()) await pace.rest();
    const { monitorId } = life;
    const times = measureEach(starts, life, changes[index] ?? [], maintenance.get(monitorId) ?? []);
    const halfHours = starts.map((start, place) => {
      const time = times[place] ?? NO_TIME;
      const isSlow = slow.has(keyOf(monitorId, startOf(start, HOUR_MS)));
      return { from: start, to: Math.min(start + HALF_HOUR_MS, to), ...time, isSlow };
    });
    found.set(monitorId, halfHours);
  }
  return found;
}

/** Measures the part of each half hour that lies in a life. Each change is visited once. Most half hours have none. */
function measureEach(
  starts: readonly number[],
  life: Span,
  changes: readonly StatusChange[],
  maintenance: readonly Span[],
): readonly TimeByStatus[] {
  let next = 0;
  return starts.map((start) => {
    const span = { from: Math.max(start, life.from), to: Math.min(start + HALF_HOUR_MS, life.to) };
    if (span.from >= span.to) return NO_TIME;
    // The change before a half hour says how it begins.
    const first = Math.max(0, next - 1);
    while ((changes[next]?.at ?? Infinity) < span.to) next += 1;
    const before = changes[first];
    if (before !== undefined && before.at <= span.from && next === first + 1 && maintenance.length === 0)
      return { ...NO_TIME, [`${before.status}Ms`]: span.to - span.from };
    return measureTime(span, changes.slice(first, next), maintenance);
  });
}

/** Returns keys of the hours that were slow. */
async function findSlowHours(
  sql: Queryable,
  monitorIds: readonly number[],
  { from, to }: Span,
  openHour: number,
): Promise<ReadonlySet<string>> {
  const first = startOf(from, HOUR_MS);
  const open = Math.min(Math.max(openHour, first), startOf(to, HOUR_MS));
  const rows = await Promise.all([
    readSlowHours(sql, monitorIds, hoursBetween(first, open)),
    countSlowHours(sql, monitorIds, hoursBetween(open, to + 1)),
  ]);
  const isSlow = ({ up, slow }: SlowHour) => slow >= up * SLOW_PART;
  return new Set(
    rows
      .flat()
      .filter(isSlow)
      .map(({ monitorId, at }) => keyOf(monitorId, at.getTime())),
  );
}

function keyOf(monitorId: number, hour: number): string {
  return `${monitorId} ${hour}`;
}
