const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/**
 * Parses a cookie date (RFC 6265 section 5.1.1): tokens in any order, the first of each kind counts, always UTC.
 * Returns null if a part is missing or out of range, or if the day does not exist in its month.
 */
export function parseCookieDate(text: string): Date | null {
  let time: readonly [number, number, number] | null = null;
  let day: number | null = null;
  let month: number | null = null;
  let year: number | null = null;
  for (const token of text.split(/[\t\u0020-\u002F\u003B-\u0040\u005B-\u0060\u007B-\u007E]+/)) {
    if (token === "") continue;
    const clock: RegExpExecArray | null = time === null ? /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/.exec(token) : null;
    if (clock !== null) {
      time = [Number(clock[1]), Number(clock[2]), Number(clock[3])];
      continue;
    }
    const dayDigits: RegExpExecArray | null = day === null ? /^(\d{1,2})(?!\d)/.exec(token) : null;
    if (dayDigits !== null) {
      day = Number(dayDigits[1]);
      continue;
    }
    const named: number = month === null ? MONTHS.indexOf(token.slice(0, 3).toLowerCase()) : -1;
    if (named !== -1) {
      month = named;
      continue;
    }
    const yearDigits = year === null ? /^(\d{2,4})(?!\d)/.exec(token) : null;
    if (yearDigits !== null) year = fullYear(Number(yearDigits[1]));
  }
  if (time === null || day === null || month === null || year === null) return null;
  return build(year, month, day, time);
}

/** Expands a year of two digits: 70 to 99 are in the 1900s, 0 to 69 in the 2000s. */
function fullYear(digits: number): number {
  if (digits >= 70 && digits <= 99) return digits + 1900;
  return digits <= 69 ? digits + 2000 : digits;
}

function build(year: number, month: number, day: number, time: readonly [number, number, number]): Date | null {
  const [hour, minute, second] = time;
  if (day < 1 || day > 31 || year < 1601 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(Date.UTC(year, month, day, hour, minute, second));
  return date.getUTCDate() === day ? date : null;
}
