const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SHORT_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const TIME = "(\\d{2}):(\\d{2}):(\\d{2})";
const MONTH = `(${MONTHS.join("|")})`;

/** Sun, 06 Nov 1994 08:49:37 GMT */
const IMF_FIXDATE = new RegExp(`^${SHORT_DAY}, (\\d{2}) ${MONTH} (\\d{4}) ${TIME} GMT$`);
/** Sunday, 06-Nov-94 08:49:37 GMT */
const RFC850 = new RegExp(`^${LONG_DAY}, (\\d{2})-${MONTH}-(\\d{2}) ${TIME} GMT$`);
/** Sun Nov  6 08:49:37 1994 */
const ASCTIME = new RegExp(`^${SHORT_DAY} ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`);

/**
 * Parses an HTTP-date in any of its three forms (RFC 9110 section 5.6.7). Returns null for any other text. `now`
 * decides the century of a year with two digits.
 */
export function parseHttpDate(text: string, now: Date): Date | null {
  const fixed = IMF_FIXDATE.exec(text);
  if (fixed !== null) return dateOf(Number(fixed[3]), fixed[2], fixed[1], fixed.slice(4));
  const old = RFC850.exec(text);
  if (old !== null) return dateOf(fullYear(Number(old[3]), now), old[2], old[1], old.slice(4));
  const c = ASCTIME.exec(text);
  return c === null ? null : dateOf(Number(c[6]), c[1], c[2], c.slice(3, 6));
}

/** Expands a year of two digits: a year more than 50 years ahead is the most recent past year with those digits. */
function fullYear(digits: number, now: Date): number {
  const thisYear = now.getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}

function dateOf(
  year: number,
  monthName: string | undefined,
  dayText: string | undefined,
  time: readonly string[],
): Date | null {
  const month = MONTHS.indexOf(monthName ?? "");
  const day = Number(dayText);
  const [hour = 24, minute = 60, second = 61] = time.map(Number);
  if (hour > 23 || minute > 59 || second > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  if (day < 1 || date.getUTCMonth() !== month) return null;
  date.setUTCHours(hour, minute, second);
  return date;
}
