import { Cron } from "croner";
import { changeOfOffset, toInstant, toLocal, type TimeZone } from "#control-plane/time-zone.ts";

/** A schedule of cron: minute, hour, day of month, month, day of week, in a time zone. */
export interface CronSchedule {
  /** Returns the first run strictly after an instant. Both are Unix milliseconds. */
  nextRun(after: number): number;
}

/** One item of a field's list: every value, a number or a name, or a range of them; each with or without a step. */
const ITEM = /^(?:\*|(?:\d{1,2}|[a-z]{3})(?:-(?:\d{1,2}|[a-z]{3}))?)(?:\/\d{1,2})?$/i;
const FIELDS = 5;
const MAX_LENGTH = 200;
const DAY_MS = 86_400_000;
/** Instants that are tried for one run: those of an hour that is skipped or repeated, and of a day that is. */
const MOST_TRIED = 3_000;

/**
 * Parses a cron expression with five fields. Day of month and day of week, if both are set, are alternatives. Returns
 * null if it is not valid or never runs, such as on 30 February.
 */
export function parseCron(expression: string, zone: TimeZone): CronSchedule | null {
  if (expression.length > MAX_LENGTH) return null;
  const fields = expression.trim().split(/\s+/);
  // croner reads more than cron does: L, W, #, ?, seconds, and nicknames such as @daily.
  if (fields.length !== FIELDS || !fields.every((field) => field.split(",").every((item) => ITEM.test(item))))
    return null;
  const clock = openClock(fields.join(" "));
  if (clock === null || clock(0) === null) return null;
  const isHourly = fields[1]?.startsWith("*") === true;
  return { nextRun: (after) => (isHourly ? nextHourly(clock, zone, after) : nextDaily(clock, zone, after)) };
}

/** Returns the next time that matches, on a clock that is never changed, strictly after one; null if there is none. */
type Clock = (local: number) => number | null;

function openClock(expression: string): Clock | null {
  try {
    const cron = new Cron(expression, { timezone: "UTC", mode: "5-part", paused: true });
    return (local) => cron.nextRun(new Date(local))?.getTime() ?? null;
  } catch {
    // The only way in which croner reports an expression that it cannot read.
    return null;
  }
}

/**
 * Returns the next run of a schedule with fixed hours. A time of day that clocks skip runs when they are changed, and one
 * that they show twice runs at the first, as with cron(8) of Debian.
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

/** Returns the next run of a schedule for every hour, or every nth: in both passes of an hour that is repeated. */
function nextHourly(clock: Clock, zone: TimeZone, after: number): number {
  let from = after;
  let offset = zone.offsetAt(after);
  for (let tried = 0; tried < MOST_TRIED; tried += 1) {
    const next = clock(from + offset);
    if (next === null) break;
    const run = next - offset;
    if (run - from > DAY_MS) {
      // A later day, on which clocks may have been changed since.
      const instant = toInstant(zone, next);
      if (toLocal(zone, instant) === next) return instant;
      from = changeOfOffset(zone, instant - DAY_MS, instant) - 1;
    } else if (zone.offsetAt(run) === offset) return run;
    else from = changeOfOffset(zone, from, run) - 1;
    offset = zone.offsetAt(from + 1);
  }
  throw new Error("a cron schedule that was parsed has no next run");
}
