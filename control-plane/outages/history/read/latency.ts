import type { Queryable } from "#control-plane/core/database/connect.ts";
import { mergeHistograms, percentilesOf, type Percentiles } from "#control-plane/outages/history/histogram.ts";
import { DAY_MS, HOUR_MS, hoursBetween, startOf, type Span } from "#control-plane/outages/history/period.ts";
import { readSteps } from "#control-plane/outages/history/read/read-points.ts";
import { readHourHistograms } from "#control-plane/outages/history/read/store.ts";
import type { Progress } from "#control-plane/outages/history/store.ts";

/** Ranges of response times that end now, each with the length of its steps: at most 182 of them. Milliseconds. */
const RANGES = {
  d1: { lengthMs: DAY_MS, stepMs: 10 * 60_000 },
  d7: { lengthMs: 7 * DAY_MS, stepMs: HOUR_MS },
  d30: { lengthMs: 30 * DAY_MS, stepMs: 4 * HOUR_MS },
  d90: { lengthMs: 90 * DAY_MS, stepMs: DAY_MS },
} as const;

/** Name of a range: its length in days. */
export type LatencyRange = keyof typeof RANGES;

/** Response times of successful checks, as percentiles of the whole and of each step. */
export interface ResponseSeries extends Percentiles {
  /** Median of the newest step; null if there is none. */
  readonly last: number | null;
  /** Steps with a response time, the earliest first. */
  readonly points: readonly (Percentiles & { readonly at: Date })[];
}

/** The time of a chart and the length of its steps, milliseconds. */
interface Axis extends Span {
  readonly stepMs: number;
}

/** Response times of a monitor by location. */
export interface Latency extends Axis {
  /** In the order of their locations. */
  readonly series: readonly (ResponseSeries & { readonly location: string })[];
}

/** Response times of monitors, all locations together. */
export interface HourlyLatency extends Axis {
  /** By monitor id; monitors without a response time are missing. */
  readonly series: ReadonlyMap<number, ResponseSeries>;
}

/** Reads the response times of a monitor by location, in at most four statements. */
export async function readLatency(sql: Queryable, monitorId: number, range: LatencyRange, now: Date): Promise<Latency> {
  const { lengthMs, stepMs } = RANGES[range];
  const to = now.getTime();
  const from = to - lengthMs;
  const rows = await readSteps(sql, monitorId, { from, to: to + 1 }, stepMs, now);
  const series = Array.from(
    Map.groupBy(rows, ({ location }) => location),
    ([location, group]) => ({ location, ...toSeries(group, stepMs) }),
  )
    .filter(({ points }) => points.length > 0)
    .toSorted((a, b) => (a.location < b.location ? -1 : 1));
  return { from, to, stepMs, series };
}

/**
 * Reads the response times of any number of monitors in the last 24 whole hours, in one statement. Until an hour is
 * rolled up for all monitors, some minutes after its end, it has none: so answers change once an hour.
 */
export async function readHourlyLatency(
  sql: Queryable,
  monitorIds: readonly number[],
  now: Date,
  { openHour }: Pick<Progress, "openHour">,
): Promise<HourlyLatency> {
  const to = startOf(now.getTime(), HOUR_MS);
  const from = to - DAY_MS;
  const rows = await readHourHistograms(sql, monitorIds, hoursBetween(from, Math.min(to, openHour)));
  const series = Array.from(
    Map.groupBy(rows, ({ monitorId }) => monitorId),
    ([monitorId, group]) => [monitorId, toSeries(group, HOUR_MS)] as const,
  );
  return { from, to, stepMs: HOUR_MS, series: new Map(series) };
}

/** Joins histograms of steps, or of parts of them, to a series. */
function toSeries(
  rows: readonly { readonly at: Date; readonly responseMs: Uint8Array | null }[],
  stepMs: number,
): ResponseSeries {
  const known = rows.filter(({ responseMs }) => responseMs !== null);
  const percentiles = (group: typeof known) =>
    percentilesOf(mergeHistograms(group.map(({ responseMs }) => responseMs)));
  const points = Array.from(
    Map.groupBy(known, ({ at }) => startOf(at.getTime(), stepMs)),
    ([at, group]) => ({ at: new Date(at), ...percentiles(group) }),
  ).toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return { points, last: points.at(-1)?.p50 ?? null, ...percentiles(known) };
}
