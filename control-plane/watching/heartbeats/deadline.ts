import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import { parseStoredCron, type CronSchedule } from "#control-plane/watching/heartbeats/cron.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";

/** What the deadline of a heartbeat depends on. */
export interface Expectation {
  /** Time of the newest ping that counts as a run; null: none yet. */
  readonly last_ping: Date | null;
  /** Start of the run that is open; null: none is. */
  readonly last_start: Date | null;
  readonly period_seconds: number;
  readonly grace_seconds: number;
  /** Cron expression with five fields; null: every `period_seconds`. */
  readonly cron: string | null;
  /** IANA time zone of `cron`. */
  readonly timezone: string;
}

/**
 * Returns when a heartbeat is late: at its next due time, or at the start of an open run if that is earlier, plus the
 * grace time. Null without a ping and without a start. Throws if `cron` or `timezone` is not valid.
 */
export function deadline(expected: Expectation): Date | null {
  const { last_ping, last_start, grace_seconds } = expected;
  const dueAt = last_ping === null ? Infinity : dueAfterSuccess(expected, last_ping.getTime());
  const at = Math.min(dueAt, last_start?.getTime() ?? Infinity) + grace_seconds * 1_000;
  return at === Infinity ? null : new Date(at);
}

/**
 * Returns when the next ping is due after one, without the grace time. Both are Unix milliseconds. Throws if `cron` or
 * `timezone` is not valid.
 */
export function nextDue(
  { period_seconds, cron, timezone }: Pick<Expectation, "period_seconds" | "cron" | "timezone">,
  pingedAt: number,
): number {
  if (cron === null) return pingedAt + period_seconds * 1_000;
  const schedule = openSchedule(cron, timezone);
  if (schedule === null) throw new Error(`not a schedule: ${cron} in ${timezone}`);
  return schedule.nextRun(pingedAt);
}

/**
 * Returns the next runs of a schedule of cron after a time; null for a period, which begins with the first ping. Throws if
 * `cron` or `timezone` is not valid.
 */
export function nextRuns(
  expected: Pick<Expectation, "period_seconds" | "cron" | "timezone">,
  after: Date,
  count: number,
): readonly Date[] | null {
  if (expected.cron === null) return null;
  const runs: number[] = [];
  while (runs.length < count) runs.push(nextDue(expected, runs.at(-1) ?? after.getTime()));
  return runs.map((run) => new Date(run));
}

/** Most that a success can come before the run for which it counts, in milliseconds. */
const MOST_EARLY_MS = 60_000;

/**
 * Returns when the next ping is due after a success, without the grace time. Both are Unix milliseconds. With cron, clocks
 * that differ must not make a job late: a success shortly before a run counts for that run, so the one after it is due.
 * Shortly: at most 60 s, half of the grace time, and a tenth of the time since the run before, so that a success at the
 * end of one run rarely counts for the next.
 */
export function dueAfterSuccess(
  expected: Pick<Expectation, "period_seconds" | "grace_seconds" | "cron" | "timezone">,
  succeededAt: number,
): number {
  const dueAt = nextDue(expected, succeededAt);
  const early = dueAt - succeededAt;
  if (expected.cron === null || early > Math.min(MOST_EARLY_MS, expected.grace_seconds * 500)) return dueAt;
  // The run before is ten times as far away, or further, if none lies in between.
  return nextDue(expected, dueAt - 10 * early) === dueAt ? nextDue(expected, dueAt) : dueAt;
}

/** Schedules that were parsed: parsing one takes about 20 us and opening a time zone 50 us, at each ping. */
const parsed = createLeastRecent<string, CronSchedule>(10_000);

/** Returns a schedule of cron in a time zone; null if one of the two is not valid. */
export function openSchedule(cron: string, timezone: string): CronSchedule | null {
  const key = `${timezone} ${cron}`;
  const kept = parsed.get(key);
  if (kept !== undefined) return kept;
  const zone = openTimeZone(timezone);
  const schedule = zone === null ? null : parseStoredCron(cron, zone);
  if (schedule !== null) parsed.set(key, schedule);
  return schedule;
}
