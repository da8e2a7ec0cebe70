import {
  nextStart,
  occurrencesBetween,
  occurrencesStarting,
  type Schedule,
  type Span,
} from "#control-plane/outages/maintenance/schedule/schedule.ts";

/** How far ahead occurrences have rows, milliseconds: 60 days. */
const PLANNED_MS = 60 * 86_400_000;

/** The occurrences of a window for which rows are written. */
export interface Plan {
  /** In order of start. */
  readonly occurrences: readonly Span[];
  /** Occurrences that start before this time are planned; Unix milliseconds. */
  readonly until: number;
  /** The first start from `until` on; null if there is none. */
  readonly laterStart: number | null;
}

/** Plans the occurrences of a schedule that end after now and start within the planned time. */
export function planFrom(schedule: Schedule, now: number): Plan {
  const until = now + PLANNED_MS;
  return {
    occurrences: occurrencesBetween(schedule, { from: now, to: until }),
    until,
    laterStart: nextStart(schedule, until),
  };
}

/** Plans what follows a plan: the occurrences that start from `planned` on, until the planned time from now on ends. */
export function planAfter(schedule: Schedule, planned: number, now: number): Plan {
  const until = Math.max(planned, now + PLANNED_MS);
  return {
    occurrences: occurrencesStarting(schedule, { from: planned, to: until }),
    until,
    laterStart: nextStart(schedule, until),
  };
}

/** The plan of a window that is not open any more. */
export function planNothing(now: number): Plan {
  return { occurrences: [], until: now, laterStart: null };
}
