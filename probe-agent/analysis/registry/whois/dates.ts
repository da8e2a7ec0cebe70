import { splitNote } from "#probe-agent/analysis/registry/whois/note.ts";

/** A point in time as stated by a registry. */
export interface WhoisDate {
  /** In ISO 8601 UTC. Midnight if only the day is stated. */
  readonly iso: string;
  /** Whether the registry says "before Aug-1996" and knows no more than that. */
  readonly before: boolean;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Beginnings of Spanish months that differ from English. NIC México writes 16-abr-1997, NIC Chile 5 de enero de 2013. */
const SPANISH: ReadonlyMap<string, number> = new Map([
  ["ene", 0],
  ["abr", 3],
  ["ago", 7],
  ["set", 8],
  ["dic", 11],
]);

/**
 * Time zones that registries write after a time, in hours ahead of UTC. Names with several meanings (CST, IST, BST) are
 * not listed: such a time counts as UTC, like a time without a zone.
 */
const ZONES: ReadonlyMap<string, number> = new Map(
  "UTC=0 GMT=0 Z=0 WET=0 CET=1 CEST=2 EET=2 EEST=3 MSK=3 EAT=3 WIB=7 ICT=7 JST=9 KST=9 HKT=8 SGT=8 AEST=10 AEDT=11 NZST=12 NZDT=13 BRT=-3 CLST=-3 CLT=-4 EST=-5 EDT=-4 PST=-8 PDT=-7"
    .split(" ")
    .map((pair) => pair.split("="))
    .map(([name = "", hours]) => [name, Number(hours)]),
);

/**
 * Country codes and top-level domains whose registries write the month first. All other registries with a country code
 * write the day first.
 */
const MONTH_FIRST: ReadonlySet<string> = new Set(["us", "gov", "mil", "edu"]);

const TIME = /(\d{1,2}):(\d{2})(?::(\d{2}))?/;
/** The year 9999 means that there is no end. */
const YEARS = [1970, 9998] as const;
const MAX_TEXT = 100;
const MAX_LOG_LINE = 300;
const BEFORE = /^(?:before|prior to)\s+/i;

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Text after the date. */
  readonly rest: string;
}

/**
 * Parses a date in any form that registries use. Returns null for anything else, and for 03/04/2024 from a server whose
 * order of day and month is unknown. `isShownMonthFirst`: another date of the answer has the month first.
 */
export function readWhoisDate(text: string, server: string, isShownMonthFirst = false): WhoisDate | null {
  const line = text.slice(0, MAX_TEXT).trim();
  // "Tue, 02 Jan 2024 03:04:05 GMT" (RFC 5322) and "Monday 16th Jun 2031" begin with a day of the week, which is not
  // needed.
  const plain = line.replace(BEFORE, "").replace(/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? (?=\d)/i, "");
  const day = readDay(plain, isShownMonthFirst ? true : isMonthFirst(server));
  if (day === null) return null;
  const { year, month, day: date } = day;
  const at = new Date(Date.UTC(year, month - 1, date) + timeOf(day.rest));
  const isValid =
    year >= YEARS[0] &&
    year <= YEARS[1] &&
    new Date(Date.UTC(year, month - 1, date)).getUTCDate() === date &&
    month >= 1 &&
    month <= 12;
  return isValid && !Number.isNaN(at.getTime()) ? { iso: at.toISOString(), before: BEFORE.test(line) } : null;
}

const SLASHED = /^(\d{1,2})[-/](\d{1,2})[-/]\d{4}\b/;

/** Reports whether dates such as 03/04/2024 have the month first: one has a day after 12 behind it, and none before it. */
export function showsMonthFirst(dates: readonly string[]): boolean {
  const pairs = dates.flatMap((text) => {
    const [, first, second] = SLASHED.exec(text.slice(0, MAX_TEXT).trim()) ?? [];
    return first === undefined ? [] : [[Number(first), Number(second)] as const];
  });
  return pairs.some(([, second]) => second > 12) && pairs.every(([first]) => first <= 12);
}

/** A logged change and its kind: "registrar AT ns.example 19960111 (Assigned)", "EXR-UANIC 20120730164230". */
export interface StampedChange {
  readonly iso: string;
  /** Word in parentheses, in lower case. Empty if there is none. */
  readonly note: string;
}

/** Parses a line of a change log that says who made a change and when. Returns null for any other text. */
export function readStampedChange(text: string): StampedChange | null {
  const line = text.slice(0, MAX_LOG_LINE).trim();
  const { bare, note } = splitNote(line, "()") ?? { bare: line, note: "" };
  const [stamp = ""] = /(?:^| )\d{8}(?:\d{6})?$/.exec(bare) ?? [];
  const date = stamp === "" ? null : readWhoisDate(stamp.trim(), "");
  return date === null ? null : { iso: date.iso, note: note.trim().toLowerCase() };
}

/** `isMonthFirst`: of the server; null if it is unknown. */
type Reader = readonly [RegExp, (parts: readonly string[], isMonthFirst: boolean | null) => Omit<Day, "rest"> | null];

const numericDate = (year = "", month = "", day = "") => ({
  year: Number(year),
  month: Number(month),
  day: Number(day),
});

const namedDate = (year = "", month = "", day = "1") => {
  const start = month.slice(0, 3).toLowerCase();
  const number = (SPANISH.get(start) ?? MONTHS.indexOf(start)) + 1;
  return number === 0 ? null : { year: Number(year), month: number, day: Number(day) };
};

/** Every expression matches from the start of the text. The rest is the time. */
const READERS: readonly Reader[] = [
  // 2024-01-02, 2024/01/02, 2024.01.02, "2024. 01. 02."
  [/^(\d{4})[-/.] ?(\d{1,2})[-/.] ?(\d{1,2})(?!\d)\.?/, ([, year, month, day]) => numericDate(year, month, day)],
  // 20240102, with or without 12:00:00 or 120000 behind it
  [/^((?:19|[2-9]\d)\d{2})(\d{2})(\d{2})(?!\d{1,5}(?!\d))/, ([, year, month, day]) => numericDate(year, month, day)],
  // 2001-Aug-23
  [/^(\d{4})[- ]([a-z]{3,9})[- ](\d{1,2})\b\.?/i, ([, year, month, day]) => namedDate(year, month, day)],
  // 02-Jan-2024, 2 January 2024, 01st January 2000
  [
    /^(\d{1,2})(?:st|nd|rd|th)?[- ./]([a-z]{3,9})[- ./,]{1,2}(\d{4})\b/i,
    ([, day, month, year]) => namedDate(year, month, day),
  ],
  // 5 de enero de 2013
  [/^(\d{1,2}) de ([a-z]{4,10}) (?:de|del) (\d{4})\b/i, ([, day, month, year]) => namedDate(year, month, day)],
  // January 2 2024; "Tue Dec 12 2000"
  [
    /^(?:[a-z]{3,9},? )?([a-z]{3,9})\s+(\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b/i,
    ([, month, day, year]) => namedDate(year, month, day),
  ],
  // Aug-1996
  [/^([a-z]{3,9})[- ](\d{4})$/i, ([, month, year]) => namedDate(year, month)],
  // before 1995
  [/^(\d{4})$/, ([, year]) => numericDate(year, "1", "1")],
  // 02.01.2024: with dots, nobody writes the month first
  [/^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})\b/, ([, day, month, year]) => numericDate(year, month, day)],
  // 02/01/2024, 02-01-2024
  [
    /^(\d{1,2})[-/](\d{1,2})[-/](\d{4})\b/,
    ([, first = "", second = "", year], isMonthFirstThere) => {
      const monthFirst = Number(second) > 12 || (Number(first) <= 12 && isMonthFirstThere);
      if (monthFirst === null) return null;
      return monthFirst ? numericDate(year, first, second) : numericDate(year, second, first);
    },
  ],
  // 02/01/24 of registries with a country code: years 70 to 99 are of the last century, because the first names of a
  // country are from 1985.
  [
    /^(\d{2})\/(\d{2})\/(\d{2})(?!\d)/,
    ([, day, month, year = ""], isMonthFirstThere) =>
      isMonthFirstThere === false ? numericDate(`${Number(year) < 70 ? "20" : "19"}${year}`, month, day) : null,
  ],
];

function readDay(text: string, isMonthFirstThere: boolean | null): Day | null {
  // "Mon Jan  2 12:00:00 UTC 2024" has the year after the time.
  const swapped = text.replace(
    /^((?:[a-z]{3},? )?[a-z]{3} +\d{1,2}) ([\d:]{5,8})((?: [A-Z]{1,5})?) (\d{4})$/i,
    "$1 $4 $2$3",
  );
  for (const [pattern, read] of READERS) {
    const found = pattern.exec(swapped);
    if (found !== null) {
      const day = read(found, isMonthFirstThere);
      return day === null ? null : { ...day, rest: swapped.slice(found[0].length) };
    }
  }
  return null;
}

/** Reports whether the server writes the month first. Null if neither its country nor its kind shows it. */
function isMonthFirst(server: string): boolean | null {
  const last = server.toLowerCase().replace(/\.$/, "").split(".").at(-1) ?? "";
  if (MONTH_FIRST.has(last)) return true;
  return /^[a-z]{2}$|^xn--/.test(last) ? false : null;
}

/** Returns milliseconds from midnight UTC of the stated day. 0 without a time. */
function timeOf(rest: string): number {
  const compact = /^(\d{2})(\d{2})(\d{2})$/.exec(rest);
  const [, hours = "0", minutes = "0", seconds = "0"] = compact ?? TIME.exec(rest) ?? [];
  if (Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) > 60) return 0;
  const clock = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return clock - zoneOf(compact === null ? rest.replace(TIME, "") : "");
}

/** Returns milliseconds ahead of UTC for forms such as +02, +0200, +02:00, (UTC+8), (GMT+0:00), JST, (JST). */
function zoneOf(text: string): number {
  const [, sign, hours = "0", minutes = "0"] =
    /([+-])(\d{1,2}):?(\d{2})?(?!\d)/.exec(text.replace(/^[.\d]+/, "")) ?? [];
  if (sign !== undefined) {
    const ahead = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return Number(hours) > 14 ? 0 : sign === "-" ? -ahead : ahead;
  }
  const [, name = ""] = /\b([A-Z]{1,4})\b/.exec(text) ?? [];
  return (ZONES.get(name) ?? 0) * 3_600_000;
}
