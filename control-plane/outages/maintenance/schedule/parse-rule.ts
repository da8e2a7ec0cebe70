import {
  type Frequency,
  type RecurrenceRule,
  FREQUENCIES,
  type WeekdayItem,
} from "#control-plane/outages/maintenance/schedule/rule.ts";
import { civilTime } from "#control-plane/outages/maintenance/schedule/date-time.ts";

/** A parsed rule with its text in upper case and without a prefix, or what is wrong with it (without subject). */
type ParsedRule =
  | { readonly ok: true; readonly rule: RecurrenceRule; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** Largest INTERVAL: ten years. A search for the next occurrence that ends after 40 years then finds it. */
const MOST_INTERVALS: Readonly<Record<Frequency, number>> = { DAILY: 3_650, WEEKLY: 520, MONTHLY: 120, YEARLY: 10 };
const MOST_STARTS_A_DAY = 24;

const EMPTY: Omit<RecurrenceRule, "frequency"> = {
  interval: 1,
  count: null,
  until: null,
  months: [],
  weekNumbers: [],
  yearDays: [],
  monthDays: [],
  weekdays: [],
  hours: [],
  minutes: [],
  seconds: [],
  positions: [],
  weekStart: 0,
};

/** Parses a rule such as FREQ=WEEKLY;BYDAY=SA, with or without the prefix RRULE:, in upper or lower case. */
export function parseRule(given: string): ParsedRule {
  const text = given
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, "");
  const fields: Partial<RecurrenceRule> = {};
  const seen = new Set<string>();
  for (const part of text.split(";")) {
    const equals = part.indexOf("=");
    const name = part.slice(0, Math.max(0, equals));
    const reader = Object.hasOwn(RULE_PARTS, name) ? RULE_PARTS[name] : undefined;
    if (reader === undefined) return refuse(unknownPart(part));
    if (seen.has(name)) return refuse(`has ${name} twice`);
    seen.add(name);
    const read = reader.read(part.slice(equals + 1));
    if (read === null) return refuse(`${name} must be ${reader.allowed}`);
    Object.assign(fields, read);
  }
  const { frequency } = fields;
  if (frequency === undefined) return refuse("needs FREQ: FREQ=WEEKLY;BYDAY=SA repeats every Saturday");
  const rule: RecurrenceRule = { ...EMPTY, ...fields, frequency };
  const problem = findConflict(rule);
  return problem === null ? { ok: true, rule, text } : refuse(problem);
}

/** Properties of a calendar that can accompany a rule. */
const OTHER_PROPERTIES = ["DTSTART", "EXDATE", "EXRULE", "RDATE"];

function unknownPart(part: string): string {
  const property = OTHER_PROPERTIES.find((name) => part.startsWith(name));
  return property === undefined
    ? `a rule consists of NAME=VALUE parts with semicolons between them: ${Object.keys(RULE_PARTS).join(", ")}`
    : `must not contain ${property}; starts_at is the start, and a second window adds dates`;
}

/**
 * Returns the first reason why the parts of a rule do not go together, or null. Besides what RFC 5545 forbids, it
 * refuses two shapes that calendars read in different ways: BYWEEKNO without BYDAY, and BYMONTHDAY without BYMONTH in a
 * YEARLY rule.
 */
function findConflict(rule: RecurrenceRule): string | null {
  const { frequency, interval, count, until, months, weekNumbers, yearDays, monthDays, weekdays, positions } = rule;
  const isYearly = frequency === "YEARLY";
  const isNumbered = weekdays.some(({ nth }) => nth !== 0);
  const startsADay =
    Math.max(1, rule.hours.length) * Math.max(1, rule.minutes.length) * Math.max(1, rule.seconds.length);
  const selected = [months, weekNumbers, yearDays, monthDays, weekdays, rule.hours, rule.minutes, rule.seconds];
  const conflicts: readonly (readonly [isConflict: boolean, message: string])[] = [
    [
      interval > MOST_INTERVALS[frequency],
      `INTERVAL must be at most ${MOST_INTERVALS[frequency]} with FREQ=${frequency}`,
    ],
    [count !== null && until !== null, "has COUNT and UNTIL; give one of them"],
    [weekNumbers.length > 0 && !isYearly, "BYWEEKNO needs FREQ=YEARLY"],
    [weekNumbers.length > 0 && weekdays.length === 0, "BYWEEKNO needs BYDAY: the days of the week"],
    [yearDays.length > 0 && !isYearly, "BYYEARDAY needs FREQ=YEARLY"],
    [monthDays.length > 0 && frequency === "WEEKLY", "BYMONTHDAY cannot be used with FREQ=WEEKLY"],
    [isYearly && monthDays.length > 0 && months.length === 0, "BYMONTHDAY with FREQ=YEARLY needs BYMONTH"],
    [isNumbered && !isYearly && frequency !== "MONTHLY", "BYDAY with a number needs FREQ=MONTHLY or FREQ=YEARLY"],
    [isNumbered && weekNumbers.length > 0, "BYDAY with a number cannot be used with BYWEEKNO"],
    [
      positions.length > 0 && selected.every((list) => list.length === 0),
      "BYSETPOS needs another BY part to select from",
    ],
    [startsADay > MOST_STARTS_A_DAY, `has ${startsADay} starts a day; at most ${MOST_STARTS_A_DAY} are possible`],
  ];
  return conflicts.find(([isConflict]) => isConflict)?.[1] ?? null;
}

function refuse(message: string): ParsedRule {
  return { ok: false, message };
}

/** A part of a rule: how it is read, and the words for what it allows. */
interface RulePart {
  readonly allowed: string;
  /** Returns the fields that the part sets; null if the text does not fit. */
  read(text: string): Partial<RecurrenceRule> | null;
}

/** Names of the fields that hold lists of numbers. */
type NumbersField = {
  [K in keyof RecurrenceRule]: RecurrenceRule[K] extends readonly number[] ? K : never;
}[keyof RecurrenceRule];

interface Range {
  readonly least: number;
  readonly most: number;
  /** Whether negative numbers count from the end. */
  readonly isSigned?: boolean;
}

const MOST_OCCURRENCES = 10_000;
const WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const NUMBER = /^[+-]?\d{1,3}$/;
const COUNT = /^\d{1,5}$/;
const WEEKDAY = /^([+-]?\d{1,2})?([A-Z]{2})$/;
const UNTIL = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/;
/** Longest list; a year has no more days. */
const MOST_ITEMS = 366;

/** The parts that a rule can have, by name. */
const RULE_PARTS: Readonly<Record<string, RulePart>> = {
  FREQ: {
    allowed: `${FREQUENCIES.slice(0, -1).join(", ")} or YEARLY`,
    read: (text) =>
      set(
        "frequency",
        FREQUENCIES.find((one) => one === text),
      ),
  },
  INTERVAL: { allowed: "an integer from 1", read: (text) => set("interval", readCount(text)) },
  COUNT: { allowed: `an integer from 1 to ${MOST_OCCURRENCES}`, read: (text) => set("count", readCount(text)) },
  UNTIL: {
    allowed: "a day such as 20261231, or a time such as 20261231T215959Z",
    read: (text) => set("until", readUntil(text)),
  },
  BYMONTH: numbers("months", { least: 1, most: 12 }),
  BYWEEKNO: numbers("weekNumbers", { least: 1, most: 53, isSigned: true }),
  BYYEARDAY: numbers("yearDays", { least: 1, most: 366, isSigned: true }),
  BYMONTHDAY: numbers("monthDays", { least: 1, most: 31, isSigned: true }),
  BYDAY: {
    allowed: `a list of ${WEEKDAYS.join(", ")}, each with a number before it to mean one of the month or year`,
    read: (text) => set("weekdays", readList(text, readWeekday)),
  },
  BYHOUR: numbers("hours", { least: 0, most: 23 }),
  BYMINUTE: numbers("minutes", { least: 0, most: 59 }),
  BYSECOND: numbers("seconds", { least: 0, most: 59 }),
  BYSETPOS: numbers("positions", { least: 1, most: 366, isSigned: true }),
  WKST: {
    allowed: `one of ${WEEKDAYS.join(", ")}`,
    read: (text) => set("weekStart", WEEKDAYS.includes(text) ? WEEKDAYS.indexOf(text) : null),
  },
};

function numbers(field: NumbersField, { least, most, isSigned = false }: Range): RulePart {
  const read = (text: string): number | null => {
    const value = NUMBER.test(text) ? Number(text) : Number.NaN;
    const size = isSigned ? Math.abs(value) : value;
    return size >= least && size <= most ? value : null;
  };
  return {
    allowed: `a list of ${isSigned ? "positive or negative " : ""}integers from ${least} to ${most}`,
    read: (text) =>
      set(
        field,
        readList(text, read)?.toSorted((a, b) => a - b),
      ),
  };
}

function set<K extends keyof RecurrenceRule>(
  field: K,
  value: RecurrenceRule[K] | null | undefined,
): Partial<RecurrenceRule> | null {
  return value === null || value === undefined ? null : { [field]: value };
}

/** Reads a list without repeated items; null if one of them does not fit. */
function readList<T>(text: string, read: (item: string) => T | null): readonly T[] | null {
  const items = [...new Set(text.split(",", MOST_ITEMS + 1))];
  if (items.length > MOST_ITEMS) return null;
  const values: T[] = [];
  for (const item of items) {
    const value = read(item);
    if (value === null) return null;
    values.push(value);
  }
  return values;
}

function readCount(text: string): number | null {
  const value = COUNT.test(text) ? Number(text) : 0;
  return value >= 1 && value <= MOST_OCCURRENCES ? value : null;
}

function readWeekday(text: string): WeekdayItem | null {
  const [, nth, name = ""] = WEEKDAY.exec(text) ?? [];
  const weekday = WEEKDAYS.indexOf(name);
  const size = Math.abs(Number(nth ?? 1));
  return weekday < 0 || size < 1 || size > 53 ? null : { weekday, nth: Number(nth ?? 0) };
}

/** Reads the end of a rule. A day without a time ends with the day, in the time zone of the window. */
function readUntil(text: string): RecurrenceRule["until"] {
  const found = UNTIL.exec(text);
  if (found === null) return null;
  const [, year, month, day, hour = "23", minute = "59", second = "59", utc] = found;
  const at = civilTime([year, month, day, hour, minute, second].map(Number));
  return at === null ? null : { kind: utc === "Z" ? "instant" : "local", at };
}
