import {
  calendarDay,
  DAY_MS,
  dayNumber,
  daysInMonth,
  daysInYear,
  weekOneStart,
} from "#control-plane/outages/maintenance/schedule/calendar.ts";
import type { RecurrenceRule } from "#control-plane/outages/maintenance/schedule/rule.ts";

/**
 * Lists the starts of a rule between two times, in order. All times are what clocks of the zone show, in milliseconds
 * from 1970-01-01T00:00: a rule is defined on dates and clock times, and offsets play no part in it. Nothing starts
 * before `start`; COUNT counts from there. UNTIL is left to the caller, who knows the zone.
 *
 * Every rule selects days of periods (days, weeks, months or years) and times of day, so the work is bounded by the
 * number of days up to `to`, and without COUNT by the days between `from` and `to`.
 */
export function* listLocalStarts(rule: RecurrenceRule, start: number, from: number, to: number): Generator<number> {
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
