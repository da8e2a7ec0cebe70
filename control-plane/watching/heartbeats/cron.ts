import { Cron } from "croner";
import { readCronFields, type CronFields } from "#control-plane/watching/heartbeats/cron-fields.ts";
import { changeOfOffset, toInstant, toLocal, type TimeZone } from "#control-plane/core/time-zone.ts";

/** A schedule of cron: minute, hour, day of month, month, day of week, in a time zone. */
export interface CronSchedule {
  /** Returns the first run strictly after an instant. Both are Unix milliseconds. */
  nextRun(after: number): number;
}

const DAY_MS = 86_400_000;
/** Instants that are tried for one run: those of an hour that is skipped or repeated, and of a day that is. */
const MOST_TRIED = 3_000;

/** Parses a cron expression (see readCronFields). Returns null if it is not valid or never runs, such as on 30 February. */
export function parseCron(expression: string, zone: TimeZone): CronSchedule | null {
  const read = readCronFields(expression);
  return read.ok ? createSchedule(openClock(read.fields), read.fields.followsClock, zone) : null;
}

/** Returns what is wrong with a cron expression, as a sentence without its subject and full stop; null: nothing. */
export function findCronProblem(expression: string): string | null {
  const read = readCronFields(expression);
  if (!read.ok) return read.message;
  if (openClock(read.fields)(0) !== null) return null;
  return "must run some day: no day has its day of month, its month and its day of week";
}

/**
 * Parses a stored cron expression. One that is refused today and was not when it was stored, such as 0 0 * * fri-sun,
 * keeps the runs that it had, those of the library's own reading: its pings must not fail.
 */
export function parseStoredCron(expression: string, zone: TimeZone): CronSchedule | null {
  const schedule = parseCron(expression, zone);
  if (schedule !== null) return schedule;
  const fields = expression.trim().split(/\s+/);
  try {
    return createSchedule(openPattern(fields.join(" "), false), fields[1]?.startsWith("*") === true, zone);
  } catch {
    // The only way in which croner reports an expression that it cannot read.
    return null;
  }
}

/** Returns the next time that matches, on a clock that is never changed, strictly after one; null if there is none. */
type Clock = (local: number) => number | null;

/** The library gets numbers alone: it reads asterisks, names and steps in other ways than cron does. */
function openClock({ minutes, hours, daysOfMonth, months, daysOfWeek, needsBothDays }: CronFields): Clock {
  const lists = [minutes, hours, daysOfMonth, months, daysOfWeek];
  return openPattern(lists.map((values) => values.join(",")).join(" "), needsBothDays);
}

function openPattern(pattern: string, domAndDow: boolean): Clock {
  const cron = new Cron(pattern, { timezone: "UTC", mode: "5-part", paused: true, domAndDow });
  return (local) => cron.nextRun(new Date(local))?.getTime() ?? null;
}

function createSchedule(clock: Clock, followsClock: boolean, zone: TimeZone): CronSchedule | null {
  if (clock(0) === null) return null;
  const next = followsClock ? nextOnClock : nextDaily;
  return { nextRun: (after) => next(clock, zone, after) };
}

/**
 * Returns the next run of a schedule with fixed hours and minutes. A time of day that clocks skip runs when they are
 * changed, and one that they show twice runs at the first, as with cron(8) of Debian.
 */
function nextDaily(clock: Clock, zone: TimeZone, after: number): number {
  let local = toLocal(zone, after);
  for (let tried = 0; tried < MOST_TRIED; tried += 1) {
    const next = clock(local);
    if (next === null) break;
    const instant = toInstant(zone, next);
    const run = toLocal(zone, instant) === next ? instant : changeOfOffset(zone, instant - DAY_MS, instant);
    if (run > after) return run;
    local = next;
  }
  throw new Error("a cron schedule that was parsed has no next run");
}

/**
 * Returns the next run of a schedule whose minutes or hours begin with an asterisk: none in an hour that clocks skip, and
 * in both passes of one that is repeated, as with cron(8) of Debian.
 */
function nextOnClock(clock: Clock, zone: TimeZone, after: number): number {
  let from = after;
  let offset = zone.offsetAt(after);
  for (let tried = 0; tried < MOST_TRIED; tried += 1) {
    const next = clock(from + offset);
    if (next === null) break;
    const run = next - offset;
    const soon = Math.min(run, from + DAY_MS);
    if (zone.offsetAt(soon) !== offset) from = changeOfOffset(zone, from, soon) - 1;
    else if (run - from > DAY_MS) {
      // A later day, on which clocks may have been changed since.
      const instant = toInstant(zone, next);
      if (toLocal(zone, instant) === next) return instant;
      from = changeOfOffset(zone, instant - DAY_MS, instant) - 1;
    } else return run;
    offset = zone.offsetAt(from + 1);
  }
  throw new Error("a cron schedule that was parsed has no next run");
}
