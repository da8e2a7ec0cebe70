import type { Frequency, RecurrenceRule } from "#control-plane/outages/maintenance/schedule/rule.ts";
import { RULE_PARTS } from "#control-plane/outages/maintenance/schedule/rule-parts.ts";

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
