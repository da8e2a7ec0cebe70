import type { CountedChecks } from "#control-plane/outages/history/aggregate-store.ts";
import { mergeHistograms, percentilesOf } from "#control-plane/outages/history/histogram.ts";
import { DAY_MS, HOUR_MS, startOf, type Span } from "#control-plane/outages/history/period.ts";

/** Checks of one location in one step of the history, without re-checks. */
export interface Point {
  /** Beginning of the step: a multiple of its length in UTC. */
  readonly at: Date;
  readonly location: string;
  readonly up: number;
  readonly down: number;
  readonly unknown: number;
  /** Response times of successful checks in milliseconds; null if there are none. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** Milliseconds between two points of the shortest ranges. */
const FINE_STEP_MS = 5 * 60_000;

/** Returns the length of the steps for a range: 5 minutes up to 6 hours, 1 hour up to 7 days, else 1 day. */
export function stepOf({ from, to }: Span): number {
  const length = to - from;
  if (length <= 6 * HOUR_MS) return FINE_STEP_MS;
  return length <= 7 * DAY_MS ? HOUR_MS : DAY_MS;
}

/**
 * Joins counted checks of equal or shorter periods to points, ordered by time and location. A step without checks has
 * no point.
 */
export function joinPoints(rows: readonly Omit<CountedChecks, "monitorId">[], stepMs: number): readonly Point[] {
  const groups = Map.groupBy(rows, ({ at, location }) => `${startOf(at.getTime(), stepMs)} ${location}`);
  const points = Array.from(groups.values(), (group) => joinPoint(group, stepMs));
  return points
    .filter(({ up, down, unknown }) => up + down + unknown > 0)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || (a.location < b.location ? -1 : 1));
}

function joinPoint(group: readonly Omit<CountedChecks, "monitorId">[], stepMs: number): Point {
  const sum = (field: "up" | "down" | "unknown") => group.reduce((total, row) => total + row[field], 0);
  return {
    at: new Date(startOf(group[0]?.at.getTime() ?? 0, stepMs)),
    location: group[0]?.location ?? "",
    up: sum("up"),
    down: sum("down"),
    unknown: sum("unknown"),
    ...percentilesOf(mergeHistograms(group.map(({ responseMs }) => responseMs))),
  };
}
