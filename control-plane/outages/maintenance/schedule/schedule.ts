import type { RecurrenceRule } from "#control-plane/outages/maintenance/schedule/rule.ts";
import { toInstant, toLocal, type TimeZone } from "#control-plane/core/time-zone.ts";

/** Length of a calendar day without a change of offset, milliseconds. */
const DAY_MS = 86_400_000;

/** A day of the Gregorian calendar. */
interface CalendarDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly dayOfMonth: number;
  /** 1 to 366. */
  readonly dayOfYear: number;
  /** 0 (Monday) to 6 (Sunday). */
  readonly weekday: number;
}

/** Returns the number of days from 1970-01-01 to a date; `month` is 1 to 12, or 13 for January of the next year. */
function dayNumber(year: number, month: number, dayOfMonth: number): number {
  return Date.UTC(year, month - 1, dayOfMonth) / DAY_MS;
}

/** Returns the date of a day number. */
function calendarDay(day: number): CalendarDay {
  const date = new Date(day * DAY_MS);
  const year = date.getUTCFullYear();
  return {
    year,
    month: date.getUTCMonth() + 1,
    dayOfMonth: date.getUTCDate(),
    dayOfYear: day - dayNumber(year, 1, 1) + 1,
    weekday: (date.getUTCDay() + 6) % 7,
  };
}

/** Returns the number of days of a month; `month` is 1 to 12. */
function daysInMonth(year: number, month: number): number {
  return dayNumber(year, month + 1, 1) - dayNumber(year, month, 1);
}

/** Returns the number of days of a year. */
function daysInYear(year: number): number {
  return dayNumber(year + 1, 1, 1) - dayNumber(year, 1, 1);
}

/**
 * Returns the day number on which week 1 of a year starts: the first week with at least four days in the year, so the
 * week with 4 January (ISO 8601). Weeks start on `weekStart`, 0 (Monday) to 6 (Sunday).
 */
function weekOneStart(year: number, weekStart: number): number {
  const fourth = dayNumber(year, 1, 4);
  return fourth - ((calendarDay(fourth).weekday - weekStart + 7) % 7);
}

/** When a window is open. Times are Unix milliseconds. */
export interface Schedule {
  /** First start; the start itself only if it matches the rule. */
  readonly startsAt: number;
  readonly durationMs: number;
  /** null: once. */
  readonly rule: RecurrenceRule | null;
  /** Zone of the rule's days and times. */
  readonly timeZone: TimeZone;
}

/** A half-open interval of Unix milliseconds: `from` belongs to it, `to` does not. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How far the next start is searched: the calendar repeats after 28 years, apart from missing leap days. */
const SEARCH_MS = 40 * 366 * DAY_MS;

/** Returns the occurrences of a schedule that start within a span, in order. They can overlap each other. */
export function occurrencesStarting(schedule: Schedule, { from, to }: Span): readonly Span[] {
  return startsBetween(schedule, from, to).map((at) => ({ from: at, to: at + schedule.durationMs }));
}

/** Returns the occurrences of a schedule that overlap a span, in order of start. */
export function occurrencesBetween(schedule: Schedule, { from, to }: Span): readonly Span[] {
  return occurrencesStarting(schedule, { from: from - schedule.durationMs + 1, to });
}

/** Returns the first start at or after an instant; null if there is none within 40 years. */
export function nextStart(schedule: Schedule, from: number): number | null {
  const { startsAt, rule } = schedule;
  const first = Math.max(from, startsAt);
  if (rule === null) return startsAt >= from ? startsAt : null;
  for (const at of listStarts(schedule, rule, first, first + SEARCH_MS)) {
    // A start that was moved out of a gap can be after the next one.
    if (at >= first) return startsBetween(schedule, Math.max(first, at - DAY_MS), at + 1)[0] ?? at;
  }
  return null;
}

/** Returns the next starts at or after an instant, in order, at most `count`. */
export function nextStarts(schedule: Schedule, from: number, count: number): readonly number[] {
  const starts: number[] = [];
  for (let at = nextStart(schedule, from); at !== null && starts.length < count; at = nextStart(schedule, at + 1)) {
    starts.push(at);
  }
  return starts;
}

/** Returns the starts from `from` on and before `to`, in order, each once. */
function startsBetween(schedule: Schedule, from: number, to: number): readonly number[] {
  const { startsAt, rule } = schedule;
  if (rule === null) return startsAt >= from && startsAt < to ? [startsAt] : [];
  const starts = new Set<number>();
  for (const at of listStarts(schedule, rule, from, to)) if (at >= from && at < to) starts.add(at);
  return [...starts].toSorted((a, b) => a - b);
}

/** Lists the starts between two instants, and some up to two days around them, in the order of clock times. */
function* listStarts({ startsAt, timeZone }: Schedule, rule: RecurrenceRule, from: number, to: number) {
  const { until } = rule;
  const start = toLocal(timeZone, startsAt);
  const untilLocal = until === null ? Infinity : until.kind === "local" ? until.at : toLocal(timeZone, until.at);
  const last = Math.min(toLocal(timeZone, to), untilLocal) + DAY_MS;
  for (const local of listLocalStarts(rule, start, toLocal(timeZone, from) - DAY_MS, last)) {
    // If clocks show the time of the first start twice, startsAt says which of the two it is.
    const at = local === start ? startsAt : toInstant(timeZone, local);
    const isAfterUntil = until !== null && (until.kind === "local" ? local : at) > until.at;
    if (!isAfterUntil && at >= startsAt) yield at;
  }
}

/**
 * Lists the starts of a rule between two times, in order. All times are what clocks of the zone show, in milliseconds
 * from 1970-01-01T00:00: a rule is defined on dates and clock times, and offsets play no part in it. Nothing starts
 * before `start`; COUNT counts from there. UNTIL is left to the caller, who knows the zone.
 *
 * Every rule selects days of periods (days, weeks, months or years) and times of day, so the work is bounded by the
 * number of days up to `to`, and without COUNT by the days between `from` and `to`.
 */
function* listLocalStarts(rule: RecurrenceRule, start: number, from: number, to: number): Generator<number> {
  const filled = fillFromStart(rule, start);
  const times = timesOfDay(filled, start);
  const { unitOf, firstDay } = periodsOf(filled);
  const base = unitOf(Math.floor(start / DAY_MS));
  const skipped = (unitOf(Math.floor(from / DAY_MS)) - base) / filled.interval;
  let left = filled.count ?? Infinity;
  for (let index = filled.count === null ? Math.max(0, Math.floor(skipped)) : 0; ; index += 1) {
    const unit = base + index * filled.interval;
    const first = firstDay(unit);
    if (first * DAY_MS >= to || left === 0) return;
    const starts: number[] = [];
    for (let day = first; day < firstDay(unit + 1); day += 1) {
      if (isSelected(filled, day, unit)) for (const time of times) starts.push(day * DAY_MS + time);
    }
    for (const at of atPositions(starts, filled.positions)) {
      if (at < start) continue;
      if (at >= to || left === 0) return;
      left -= 1;
      if (at >= from) yield at;
    }
  }
}

/** Adds what a rule leaves to its start: the weekday, the day of the month, and the month. */
function fillFromStart(rule: RecurrenceRule, start: number): RecurrenceRule {
  const { month, dayOfMonth, weekday } = calendarDay(Math.floor(start / DAY_MS));
  const { frequency, weekdays, monthDays, yearDays, weekNumbers, months } = rule;
  const selectsDays = [weekdays, monthDays, yearDays, weekNumbers].some((list) => list.length > 0);
  if (frequency === "DAILY" || selectsDays) return rule;
  if (frequency === "WEEKLY") return { ...rule, weekdays: [{ weekday, nth: 0 }] };
  if (frequency === "MONTHLY") return { ...rule, monthDays: [dayOfMonth] };
  return { ...rule, months: months.length > 0 ? months : [month], monthDays: [dayOfMonth] };
}

/** Returns the times of day of a rule, in milliseconds from midnight, in order. */
function timesOfDay({ hours, minutes, seconds }: RecurrenceRule, start: number): readonly number[] {
  const date = new Date(start);
  const of = (given: readonly number[], fromStart: number) => (given.length > 0 ? given : [fromStart]);
  return of(hours, date.getUTCHours()).flatMap((hour) =>
    of(minutes, date.getUTCMinutes()).flatMap((minute) =>
      of(seconds, date.getUTCSeconds()).map((second) => ((hour * 60 + minute) * 60 + second) * 1_000),
    ),
  );
}

/** Numbers the periods of a rule: the number of the period of a day, and the first day of a period. */
interface Periods {
  readonly unitOf: (day: number) => number;
  readonly firstDay: (unit: number) => number;
}

// 1970-01-01 was a Thursday, so weekday 3 of the week of day 0.
const THURSDAY = 3;

function periodsOf({ frequency, weekNumbers, weekStart }: RecurrenceRule): Periods {
  if (frequency === "DAILY") return { unitOf: (day) => day, firstDay: (unit) => unit };
  if (frequency === "WEEKLY") {
    const shift = THURSDAY - weekStart;
    return { unitOf: (day) => Math.floor((day + shift) / 7), firstDay: (unit) => unit * 7 - shift };
  }
  if (frequency === "MONTHLY") {
    return {
      unitOf(day) {
        const { year, month } = calendarDay(day);
        return year * 12 + month - 1;
      },
      firstDay: (unit) => dayNumber(Math.floor(unit / 12), (unit % 12) + 1, 1),
    };
  }
  if (weekNumbers.length === 0) {
    return { unitOf: (day) => calendarDay(day).year, firstDay: (unit) => dayNumber(unit, 1, 1) };
  }
  // The weeks of a year start before 1 January or after it; a year with week numbers consists of whole weeks.
  const firstDay = (unit: number): number => weekOneStart(unit, weekStart);
  return {
    unitOf(day) {
      const { year } = calendarDay(day);
      if (day < firstDay(year)) return year - 1;
      return day < firstDay(year + 1) ? year : year + 1;
    },
    firstDay,
  };
}

function isSelected(rule: RecurrenceRule, day: number, unit: number): boolean {
  const { months, weekNumbers, yearDays, monthDays, weekdays, weekStart } = rule;
  const { year, month, dayOfMonth, dayOfYear, weekday } = calendarDay(day);
  if (months.length > 0 && !months.includes(month)) return false;
  if (!includesPosition(monthDays, dayOfMonth, daysInMonth(year, month))) return false;
  if (!includesPosition(yearDays, dayOfYear, daysInYear(year))) return false;
  if (weekNumbers.length > 0) {
    const first = weekOneStart(unit, weekStart);
    const weeks = (weekOneStart(unit + 1, weekStart) - first) / 7;
    if (!includesPosition(weekNumbers, Math.floor((day - first) / 7) + 1, weeks)) return false;
  }
  if (weekdays.length === 0) return true;
  const ofMonth = rule.frequency === "MONTHLY" || months.length > 0;
  const position = ofMonth ? dayOfMonth : dayOfYear;
  const length = ofMonth ? daysInMonth(year, month) : daysInYear(year);
  const fromStart = Math.ceil(position / 7);
  const fromEnd = -Math.ceil((length - position + 1) / 7);
  return weekdays.some(
    (item) => item.weekday === weekday && (item.nth === 0 || item.nth === fromStart || item.nth === fromEnd),
  );
}

/** Reports whether a list contains a position, counted from 1 or, negative, from the end; an empty list contains all. */
function includesPosition(list: readonly number[], position: number, length: number): boolean {
  return list.length === 0 || list.includes(position) || list.includes(position - length - 1);
}

function atPositions(starts: readonly number[], positions: readonly number[]): readonly number[] {
  if (positions.length === 0) return starts;
  const found = positions.flatMap((position) => starts.at(position > 0 ? position - 1 : position) ?? []);
  return [...new Set(found)].toSorted((a, b) => a - b);
}
