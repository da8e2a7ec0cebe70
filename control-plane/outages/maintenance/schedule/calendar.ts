/** Length of a calendar day without a change of offset, milliseconds. */
export const DAY_MS = 86_400_000;

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
export function dayNumber(year: number, month: number, dayOfMonth: number): number {
  return Date.UTC(year, month - 1, dayOfMonth) / DAY_MS;
}

/** Returns the date of a day number. */
export function calendarDay(day: number): CalendarDay {
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
export function daysInMonth(year: number, month: number): number {
  return dayNumber(year, month + 1, 1) - dayNumber(year, month, 1);
}

/** Returns the number of days of a year. */
export function daysInYear(year: number): number {
  return dayNumber(year + 1, 1, 1) - dayNumber(year, 1, 1);
}

/**
 * Returns the day number on which week 1 of a year starts: the first week with at least four days in the year, so the
 * week with 4 January (ISO 8601). Weeks start on `weekStart`, 0 (Monday) to 6 (Sunday).
 */
export function weekOneStart(year: number, weekStart: number): number {
  const fourth = dayNumber(year, 1, 4);
  return fourth - ((calendarDay(fourth).weekday - weekStart + 7) % 7);
}
