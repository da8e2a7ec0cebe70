import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { toInstant, toLocal } from "#control-plane/core/time-zone.ts";

/** A place on an axis: 0 is its beginning, 1 its end. */
interface Tick {
  readonly at: number;
  readonly label: string;
}

/** An axis of response times from 0. */
interface ValueAxis {
  /** Its end, in milliseconds. */
  readonly most: number;
  readonly ticks: readonly Tick[];
}

/** Maximum number of steps of an axis of values. */
const MOST_STEPS = 5;
/** End of an axis without a value, in milliseconds. */
const EMPTY_MS = 100;
/** From this end on an axis has seconds, in milliseconds. */
const SECONDS_FROM = 2_000;

/** Returns an axis that holds values up to `largest` milliseconds, with at most 5 steps of 1, 2 or 5 times a power of ten. */
export function valueAxis(largest: number): ValueAxis {
  const end = Number.isFinite(largest) && largest > 0 ? largest : EMPTY_MS;
  const step = niceStep(end / MOST_STEPS);
  const steps = Math.max(1, Math.ceil(end / step));
  const most = steps * step;
  const ticks = Array.from({ length: steps + 1 }, (_, index) => {
    const value = index * step;
    return {
      at: index / steps,
      label: most < SECONDS_FROM ? `${value} ms` : `${Number((value / 1_000).toFixed(3))} s`,
    };
  });
  return { most, ticks };
}

/** Returns the smallest step from `least` on, and from 1 on. */
function niceStep(least: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}

/** Writes a response time with its unit: "120 ms", "2.35 s". */
export function writeMs(ms: number): string {
  return ms < SECONDS_FROM ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(2))} s`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Steps of an axis of time. Each begins at midnight of the viewer, or on a day with a number that it divides. */
const TIME_STEPS = [
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 5, 7, 14, 30, 91, 365].map((days) => days * DAY_MS),
];
/** Maximum number of steps of an axis of time. */
const MOST_TIMES = 8;

/** A tick of an axis of time. */
interface TimeTick extends Tick {
  /** Whether its label is a day, not a time of day. */
  readonly isDay: boolean;
}

/** Returns the ticks of an axis of time from `from` to `to`, Unix milliseconds, at whole times of the viewer's clock. */
export function timeTicks(from: number, to: number, { zone, format }: ViewerTime): readonly TimeTick[] {
  const step = TIME_STEPS.find((length) => (to - from) / length <= MOST_TIMES) ?? (to - from) / MOST_TIMES;
  const [first, last] = [toLocal(zone, from), toLocal(zone, to)];
  const ticks: TimeTick[] = [];
  for (let local = Math.ceil(first / step) * step; local <= last; local += step) {
    const instant = toInstant(zone, local);
    if (instant < from || instant > to) continue;
    // A day begins with its name, so that the times after it have a day.
    const isDay = step >= DAY_MS || local % DAY_MS === 0;
    ticks.push({ at: (instant - from) / (to - from), label: format(instant, isDay ? "day" : "clock"), isDay });
  }
  return ticks;
}
