import { Cron } from "croner";
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

/** The values at which a schedule of cron runs, each list in ascending order. */
interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  readonly months: readonly number[];
  /** 0 is Sunday, 6 Saturday. */
  readonly daysOfWeek: readonly number[];
  /** Whether a day must be in both lists of days; else one of the two suffices. */
  readonly needsBothDays: boolean;
  /** Whether the minute or the hour field begins with an asterisk, so that runs follow the clock when it is changed. */
  readonly followsClock: boolean;
}

/** An expression that was read, or what is wrong with it. */
type CronReading =
  | { readonly ok: true; readonly fields: CronFields }
  | { readonly ok: false; readonly message: string };

/** A field of an expression: its name, its smallest and largest value, and the names of values from the smallest on. */
interface FieldRule {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const RULES: readonly FieldRule[] = [
  { name: "minute", low: 0, high: 59, names: [] },
  { name: "hour", low: 0, high: 23, names: [] },
  { name: "day of month", low: 1, high: 31, names: [] },
  { name: "month", low: 1, high: 12, names: MONTHS },
  { name: "day of week", low: 0, high: 7, names: DAYS },
];

/** Words with their five fields (crontab(5) of Debian), without @reboot, which has none. */
const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const MAX_LENGTH = 200;
const NOT_PRINTABLE = /[^ -~]/u;

/**
 * Reads an expression as cron 3.0pl1 of Debian does: numbers, names of months and weekdays, ranges and lists of both, and
 * steps after an asterisk or a range. What that cron takes without ever running it is refused, and so is what it
 * silently leaves out, such as the end of 0#1.
 */
function readCronFields(expression: string): CronReading {
  if (expression.length > MAX_LENGTH) return refuse(`must have at most ${MAX_LENGTH} characters`);
  const odd = NOT_PRINTABLE.exec(expression);
  if (odd !== null) return refuse(`has the character ${nameOf(odd[0])}; only printable ASCII characters are allowed`);
  const text = expression.trim();
  if (text.startsWith("@")) return readNickname(text);
  const given = text === "" ? [] : text.split(/ +/);
  if (given.length !== RULES.length) {
    const names = RULES.map(({ name }) => name).join(", ");
    return refuse(`must have five fields (${names}) and has ${given.length}, or be one of ${nicknames()}`);
  }
  const lists: (readonly number[])[] = [];
  for (const [index, rule] of RULES.entries()) {
    const read = readField(given[index] ?? "", rule);
    if (!read.ok) return read;
    lists.push(read.values);
  }
  const [minutes = [], hours = [], daysOfMonth = [], months = [], daysOfWeek = []] = lists;
  const [minute = "", hour = "", dayOfMonth = "", , dayOfWeek = ""] = given;
  return {
    ok: true,
    fields: {
      minutes,
      hours,
      daysOfMonth,
      months,
      daysOfWeek: sorted(daysOfWeek.map((day) => day % 7)),
      // By the first character alone: the list *,5 begins with an asterisk, and the range 1-31 does not.
      needsBothDays: dayOfMonth.startsWith("*") || dayOfWeek.startsWith("*"),
      followsClock: minute.startsWith("*") || hour.startsWith("*"),
    },
  };
}

function readNickname(text: string): CronReading {
  const fields = NICKNAMES.get(text);
  if (fields !== undefined) return readCronFields(fields);
  if (text === "@reboot") {
    return refuse(
      `cannot be @reboot, which has no schedule: it runs when a machine starts. Allowed are ${nicknames()}`,
    );
  }
  return refuse(`has the unknown word "${text}". Allowed are ${nicknames()}, in lower case, or five fields`);
}

type FieldReading =
  | { readonly ok: true; readonly values: readonly number[] }
  | { readonly ok: false; readonly message: string };

function readField(text: string, rule: FieldRule): FieldReading {
  const values: number[] = [];
  for (const item of text.split(",")) {
    const read = readItem(item, rule);
    if (!read.ok) return read;
    values.push(...read.values);
  }
  return { ok: true, values: sorted(values) };
}

/** A value or a range, or all values; with a step or without. */
const ITEM = /^(?:\*|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/(\d+))?$/i;

function readItem(item: string, rule: FieldRule): FieldReading {
  const bad = (what: string): FieldReading => refuse(`the ${rule.name} field has ${what}`);
  const parts = ITEM.exec(item);
  if (parts === null) return bad(`"${item}"; ${allowedOf(rule)}`);
  const [, first, last, stepped] = parts;
  const step = stepped === undefined ? 1 : Number(stepped);
  if (step === 0) return bad(`the step 0 in "${item}"; a step is at least 1`);
  const from = first === undefined ? rule.low : readValue(first, rule);
  const to = first === undefined ? rule.high : last === undefined ? from : readValue(last, rule);
  if (from === null || to === null) return bad(`"${item}"; ${allowedOf(rule)}`);
  if (first !== undefined && last === undefined && stepped !== undefined) {
    return bad(
      `a step after a single value, "${item}"; a step follows * or a range, such as ${from}-${rule.high}/${step}`,
    );
  }
  if (from > to) return bad(`the range "${item}", which goes down from ${from} to ${to}, so cron never runs it`);
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return { ok: true, values };
}

function readValue(text: string, { low, high, names }: FieldRule): number | null {
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? low + named : /^\d+$/.test(text) ? Number(text) : null;
  return value !== null && value >= low && value <= high ? value : null;
}

function allowedOf({ low, high, names }: FieldRule): string {
  const or = names.length === 0 ? "" : ` or ${names[0]}-${names.at(-1)}`;
  return `allowed are ${low}-${high}${or}, *, ranges such as ${low}-${high}, steps such as */2, and lists of these with commas`;
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

function nicknames(): string {
  return [...NICKNAMES.keys()].join(", ");
}

/** Returns the Unicode name of a character by its number, such as U+00A0. */
function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function sorted(values: readonly number[]): readonly number[] {
  return [...new Set(values)].toSorted((one, other) => one - other);
}
