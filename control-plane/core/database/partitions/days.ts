/** A table that is partitioned by UTC days, with a default partition `<name>_default`. */
export interface DayTable {
  readonly name: string;
  /** The column that decides to which day a row belongs. */
  readonly column: string;
  /** Number of an advisory lock: one replica at a time changes the partitions of a table. */
  readonly lock: number;
  /** Storage parameters of a partition. */
  readonly storage?: string;
}

/** Milliseconds of a UTC day. */
export const DAY_MS = 86_400_000;
/** Days after today whose partitions exist. */
const DAYS_AHEAD = 3;

/** Returns the name of the partition of a UTC day, given its beginning in Unix milliseconds. */
export function nameOf({ name }: DayTable, day: number): string {
  return `${name}_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** Returns the beginning of the day of a partition in Unix milliseconds; null if this is not the name of one. */
export function dayOf(table: DayTable, name: string): number | null {
  if (!name.startsWith(`${table.name}_`)) return null;
  const [, year, month, date] = /^(\d{4})(\d{2})(\d{2})$/.exec(name.slice(table.name.length + 1)) ?? [];
  if (year === undefined) return null;
  const day = Date.parse(`${year}-${month}-${date}T00:00:00Z`);
  return Number.isNaN(day) ? null : day;
}

/** What to do with partitions, as beginnings of days in ascending order. */
interface PartitionPlan {
  readonly create: readonly number[];
  readonly drop: readonly number[];
}

/**
 * Plans the partitions at `now`. Yesterday's exists too, because its last rows arrive after midnight. `waiting` are
 * days with rows in the default partition. A day is dropped when all of it is older than the retention.
 */
export function planPartitions(
  existing: readonly number[],
  waiting: readonly number[],
  now: number,
  retentionMs: number,
): PartitionPlan {
  const today = startOfDay(now);
  const last = today + DAYS_AHEAD * DAY_MS;
  const first = firstKeptDay(now, retentionMs);
  const routine = Array.from({ length: DAYS_AHEAD + 2 }, (_, index) => today + (index - 1) * DAY_MS);
  const wanted = new Set([...routine, ...waiting].filter((day) => day >= first && day <= last));
  for (const day of existing) wanted.delete(day);
  return {
    create: [...wanted].toSorted((a, b) => a - b),
    drop: existing.filter((day) => day < first).toSorted((a, b) => a - b),
  };
}

/** Returns the beginning of the oldest day that still has rows within the retention. */
export function firstKeptDay(now: number, retentionMs: number): number {
  return startOfDay(now - retentionMs);
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}
