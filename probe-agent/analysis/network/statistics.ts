/** Round-trip statistics in milliseconds, rounded to 0.001. If no reply was received, all but loss_percent are null. */
interface RttStatistics {
  readonly min_ms: number | null;
  readonly avg_ms: number | null;
  readonly max_ms: number | null;
  /** Population standard deviation, like mdev of iputils ping. */
  readonly mdev_ms: number | null;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  /** Mean absolute difference of consecutive received samples; null for fewer than two samples. */
  readonly jitter_ms: number | null;
  readonly loss_percent: number;
}

/**
 * Returns the statistics of round trips, in the order in which the probes were sent. null is a lost probe. Without
 * samples the loss is 100 %.
 */
export function rttStatistics(samples: readonly (number | null)[]): RttStatistics {
  const received = samples.filter((sample) => sample !== null);
  const sorted = received.toSorted((one, other) => one - other);
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) {
    const nothing = { min_ms: null, avg_ms: null, max_ms: null, mdev_ms: null, p50_ms: null, p95_ms: null };
    return { ...nothing, jitter_ms: null, loss_percent: 100 };
  }
  const avg = mean(received);
  const steps = received.slice(1).map((sample, index) => Math.abs(sample - (received[index] ?? sample)));
  return {
    min_ms: toMicroseconds(min),
    avg_ms: toMicroseconds(avg),
    max_ms: toMicroseconds(max),
    mdev_ms: toMicroseconds(Math.sqrt(mean(received.map((sample) => (sample - avg) ** 2)))),
    p50_ms: toMicroseconds(quantile(sorted, 0.5)),
    p95_ms: toMicroseconds(quantile(sorted, 0.95)),
    jitter_ms: steps.length === 0 ? null : toMicroseconds(mean(steps)),
    loss_percent: toMicroseconds(((samples.length - received.length) / samples.length) * 100),
  };
}

/** Statistics of a hop as mtr shows them, in milliseconds; null if the hop never answered. */
interface HopStatistics {
  readonly sent: number;
  readonly received: number;
  readonly best_ms: number | null;
  readonly avg_ms: number | null;
  readonly worst_ms: number | null;
  /** Population standard deviation. */
  readonly stdev_ms: number | null;
  /** Mean absolute difference of consecutive answers; null for fewer than two answers. */
  readonly jitter_ms: number | null;
}

/** Returns the statistics of one hop of a trace, from the round trips of its answers in milliseconds. */
export function hopStatistics(sent: number, roundTrips: readonly number[]): HopStatistics {
  const { min_ms: best, avg_ms: avg, max_ms: worst, mdev_ms: stdev, jitter_ms: jitter } = rttStatistics(roundTrips);
  return {
    sent,
    received: roundTrips.length,
    best_ms: best,
    avg_ms: avg,
    worst_ms: worst,
    stdev_ms: stdev,
    jitter_ms: jitter,
  };
}

/** Rounds milliseconds to three decimals, which is the precision of the agent's clock. */
export function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the quantile q of ascending values, by linear interpolation at position (n - 1) q. */
function quantile(sorted: readonly number[], q: number): number {
  const position = (sorted.length - 1) * q;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? below;
  return below + (above - below) * (position - Math.floor(position));
}
