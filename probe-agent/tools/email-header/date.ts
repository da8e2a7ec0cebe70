import { OBSOLETE_ZONES } from "#probe-agent/analysis/text/obsolete-zones.ts";

/** A parsed date-time of a header field. */
export interface MailDate {
  /** Milliseconds since 1970; null if the text is not a valid time. */
  readonly time: number | null;
  readonly faults: readonly DateFault[];
}

/** Fault of a date. zone_unknown: -0000, no zone or an undefined letter (RFC 5322 section 4.3); UTC is used. */
type DateFault = "unreadable" | "impossible" | "wrong_weekday" | "obsolete_year" | "zone_unknown";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Maximum number of characters of a date that are read. No date is longer. */
const MAX_DATE = 200;
// [day-name ","] day month year time [zone]. Commas, hyphens and dots occur instead of spaces.
const RFC5322 =
  /^(?:([a-z]{3,9})[ .]{0,3}(?:, ?)?)?(\d{1,2})[ .-]{1,3}([a-z]{3})[a-z]{0,6}[ .,-]{1,3}(\d{2,4}),? (\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?:\.\d{1,9})?(?: ?([+-]\d{4}|[a-z]{1,5}(?:[+-]\d{1,4})?))?(?: .*)?$/i;
// Form of C's asctime: Thu Jan  2 15:04:05 2024, with the zone anywhere after the time.
const ASCTIME =
  /^([a-z]{3})[ ,]{1,3}([a-z]{3}) (\d{1,2}) (\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?: ([a-z]{1,5}|[+-]\d{4}))? (\d{4})(?: ([+-]\d{4}|[a-z]{1,5}))?$/i;
// The month before the day, as in the examples of RFC 8601 appendix B: Fri, Feb 15 2002 17:19:07 -0800.
const MONTH_FIRST =
  /^(?:([a-z]{3,9}),? )?([a-z]{3})[a-z]{0,6} (\d{1,2}),? (\d{4}),? (\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?: ([+-]\d{4}|[a-z]{1,5}))?$/i;
const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:[.,]\d{1,9})? ?(z|[+-]\d{2}:?\d{2})?$/i;

/** Parses a date-time without comments: RFC 5322 sections 3.3 and 4.3, the form of asctime, ISO 8601. */
export function readMailDate(withoutComments: string): MailDate {
  const text = withoutComments
    .slice(0, MAX_DATE)
    .replaceAll(/\s+/g, " ")
    .replaceAll(" :", ":")
    .replaceAll(": ", ":")
    .trim();
  const standard = RFC5322.exec(text);
  if (standard) {
    const [, weekday, day = "", month = "", year = "", hour = "", minute = "", second, zone] = standard;
    return toMailDate({ weekday, day, month: MONTHS.indexOf(month.toLowerCase()), year, hour, minute, second, zone });
  }
  const asctime = ASCTIME.exec(text);
  if (asctime) {
    const [, weekday, month = "", day = "", hour = "", minute = "", second, before, year = "", after] = asctime;
    const zone = after ?? before;
    return toMailDate({ weekday, day, month: MONTHS.indexOf(month.toLowerCase()), year, hour, minute, second, zone });
  }
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst) {
    const [, weekday, month = "", day = "", year = "", hour = "", minute = "", second, zone] = monthFirst;
    return toMailDate({ weekday, day, month: MONTHS.indexOf(month.toLowerCase()), year, hour, minute, second, zone });
  }
  const iso = ISO.exec(text);
  if (iso) {
    const [, year = "", month = "", day = "", hour = "", minute = "", second, zone] = iso;
    const parts = { weekday: undefined, day, month: Number(month) - 1, year, hour, minute, second };
    return toMailDate({ ...parts, zone: zone?.replace(":", "") });
  }
  return { time: null, faults: ["unreadable"] };
}

interface Parts {
  readonly weekday: string | undefined;
  readonly day: string;
  /** Month from 0 to 11; -1 if the name is unknown. */
  readonly month: number;
  readonly year: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string | undefined;
  readonly zone: string | undefined;
}

/** Makes a date from its parts and finds its faults. */
function toMailDate(parts: Parts): MailDate {
  const { month, weekday } = parts;
  const day = Number(parts.day);
  const hour = Number(parts.hour);
  const minute = Number(parts.minute);
  const second = Number(parts.second ?? "0");
  const year = fullYear(parts.year);
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  const exists = month >= 0 && date.getUTCMonth() === month && date.getUTCDate() === day;
  // Second 60 is a leap second (section 3.3).
  if (!exists || hour > 23 || minute > 59 || second > 60) return { time: null, faults: ["impossible"] };
  const faults: DateFault[] = [];
  if (parts.year.length < 4) faults.push("obsolete_year");
  if (weekday !== undefined && DAYS.indexOf(weekday.slice(0, 3).toLowerCase()) !== date.getUTCDay()) {
    faults.push("wrong_weekday");
  }
  const offset = zoneMinutes(parts.zone);
  if (offset === null) faults.push("zone_unknown");
  date.setUTCHours(hour, minute, second);
  return { time: date.getTime() - (offset ?? 0) * 60_000, faults };
}

/** Completes a short year (section 4.3): two digits mean 1950 to 2049, three digits count from 1900. */
function fullYear(year: string): number {
  const number = Number(year);
  if (year.length === 2) return number < 50 ? 2000 + number : 1900 + number;
  return year.length === 3 ? 1900 + number : number;
}

function zoneMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === "-0000") return null;
  const numeric = /^(?:gmt|utc|ut)?([+-])(\d{1,2})(\d{2})?$/i.exec(zone);
  if (numeric) {
    const [, sign, hours = "", minutes = "0"] = numeric;
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  }
  return OBSOLETE_ZONES.get(zone.toLowerCase()) ?? null;
}
