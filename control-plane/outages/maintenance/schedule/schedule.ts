import { DAY_MS } from "#control-plane/outages/maintenance/schedule/calendar.ts";
import { listLocalStarts } from "#control-plane/outages/maintenance/schedule/recurrence.ts";
import type { RecurrenceRule } from "#control-plane/outages/maintenance/schedule/rule.ts";
import { toInstant, toLocal, type TimeZone } from "#control-plane/core/time-zone.ts";

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
