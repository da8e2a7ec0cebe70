import type { Queryable } from "#control-plane/core/database/connect.ts";
import { readMaintenance } from "#control-plane/outages/history/maintenance.ts";
import { HOUR_MS, hoursBetween, startOf, startsBetween, type Span } from "#control-plane/outages/history/period.ts";
import type { Yielder } from "#control-plane/core/yielder.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { countSlowHours, readSlowHours, type SlowHour } from "#control-plane/outages/history/read/store.ts";
import { readChanges, type Progress } from "#control-plane/outages/history/store.ts";
import {
  measureTime,
  NO_TIME,
  type Status,
  type StatusChange,
  type TimeByStatus,
} from "#control-plane/outages/history/timeline.ts";

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
  yielder: Yielder,
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
  const whole = wholeHalfHours(starts, to);
  const found = new Map<number, readonly HalfHour[]>();
  for (const [index, life] of lives.entries()) {
    if (yielder.isDue()) await yielder.rest();
    const { monitorId } = life;
    const isSlow = (hour: number) => slow.size > 0 && slow.has(keyOf(monitorId, hour));
    const halfHours = measureEach(whole, life, changes[index] ?? [], maintenance.get(monitorId) ?? [], isSlow);
    found.set(monitorId, halfHours);
  }
  return found;
}

/** The half hours that begin at these times and end at `to` at the latest, each in one status throughout. */
function wholeHalfHours(starts: readonly number[], to: number): readonly Readonly<Record<Status, HalfHour>>[] {
  return starts.map((from) => {
    const empty = { from, to: Math.min(from + HALF_HOUR_MS, to), ...NO_TIME, isSlow: false };
    const ms = empty.to - from;
    return { up: { ...empty, upMs: ms }, down: { ...empty, downMs: ms }, unknown: { ...empty, unknownMs: ms } };
  });
}

/**
 * Measures the part of each half hour that lies in a life. Each change is visited once. Most half hours have none: those
 * are the ones of `whole`, which all monitors share. `isSlow` reports whether the hour that begins at a time was slow.
 */
function measureEach(
  whole: readonly Readonly<Record<Status, HalfHour>>[],
  life: Span,
  changes: readonly StatusChange[],
  maintenance: readonly Span[],
  isSlow: (hour: number) => boolean,
): readonly HalfHour[] {
  let next = 0;
  return whole.map((halfHours) => {
    const { from: start, to } = halfHours.up;
    const span = { from: Math.max(start, life.from), to };
    const isSlowHour = isSlow(startOf(start, HOUR_MS));
    if (span.from >= to) return { from: start, to, ...NO_TIME, isSlow: isSlowHour };
    // The change before a half hour says how it begins.
    const first = Math.max(0, next - 1);
    while ((changes[next]?.at ?? Infinity) < to) next += 1;
    const before = changes[first];
    const isWhole = span.from === start && before !== undefined && before.at <= start && next === first + 1;
    if (isWhole && maintenance.length === 0 && !isSlowHour) return halfHours[before.status];
    return { from: start, to, ...measureTime(span, changes.slice(first, next), maintenance), isSlow: isSlowHour };
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
