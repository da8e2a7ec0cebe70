/** How often a rule repeats. Rules that repeat within a day are not accepted. */
export const FREQUENCIES = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;
/** One of the frequencies. */
export type Frequency = (typeof FREQUENCIES)[number];

/** An item of BYDAY: a weekday, or the nth one of the month or year. */
export interface WeekdayItem {
  /** 0 (Monday) to 6 (Sunday). */
  readonly weekday: number;
  /** From the start if positive, from the end if negative; 0: every one. */
  readonly nth: number;
}

/** The end of a rule, inclusive: an instant in Unix milliseconds, or a time that clocks of the zone show. */
interface Until {
  readonly kind: "instant" | "local";
  /** Milliseconds. */
  readonly at: number;
}

/** A recurrence rule (RFC 5545, section 3.3.10). An empty list is a part that the rule does not have. */
export interface RecurrenceRule {
  readonly frequency: Frequency;
  readonly interval: number;
  readonly count: number | null;
  readonly until: Until | null;
  readonly months: readonly number[];
  readonly weekNumbers: readonly number[];
  readonly yearDays: readonly number[];
  readonly monthDays: readonly number[];
  readonly weekdays: readonly WeekdayItem[];
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
  /** BYSETPOS. */
  readonly positions: readonly number[];
  /** 0 (Monday) to 6 (Sunday). */
  readonly weekStart: number;
}
