/** Usage and demand of one stream in the agent's pool of jobs. */
interface StreamDemand {
  /** Number of running jobs of this stream. */
  readonly running: number;
  /**
   * Number of jobs that its hub could send immediately, from its last heartbeat; 0 for a 1.0 hub, which does not report
   * it.
   */
  readonly waiting: number;
}

/** A stream and the credits last sent to its hub. */
export interface StreamGrant extends StreamDemand {
  readonly granted: number;
}

/** Part of the pool that each stream keeps, so that an idle replica's next job starts without a request for credits. */
const FLOOR_SHARE = 1 / 20;

/**
 * Divides `maxJobs` among the streams in their order; the sum is exactly `maxJobs`. Each stream first gets a small
 * floor. Then running and waiting jobs are served, small demands in full and large ones equally (max-min fairness). The
 * rest is divided evenly as headroom, which also lets a stream of a 1.0 hub grow. If there are more streams than jobs,
 * some get 0.
 */
export function shareCredits(maxJobs: number, streams: readonly StreamDemand[]): number[] {
  const count = streams.length;
  if (count === 0) return [];
  const floor = creditFloor(maxJobs, count);
  const wanted = streams.map(({ running, waiting }) => Math.max(0, running + waiting - floor));
  const demanded = fill(maxJobs - floor * count, wanted);
  const left = maxJobs - floor * count - sum(demanded);
  const even = Math.floor(left / count);
  return demanded.map((share, index) => floor + share + even + (index < left % count ? 1 : 0));
}

/** Returns the minimum number of credits that each of `count` streams keeps. */
export function creditFloor(maxJobs: number, count: number): number {
  return Math.min(Math.floor(maxJobs / count), Math.max(1, Math.ceil(maxJobs * FLOOR_SHARE)));
}

/**
 * Returns the credits to send now, between two heartbeats; null if sending has no benefit: no stream that is short of
 * credits would get more, and at most `maxJobs` are granted in total.
 */
export function rebalance(maxJobs: number, streams: readonly StreamGrant[]): number[] | null {
  const shares = shareCredits(maxJobs, streams);
  const helped = streams.some((stream, index) => {
    const short = stream.waiting > 0 || stream.running >= stream.granted;
    return short && (shares[index] ?? 0) > stream.granted;
  });
  return helped || sum(streams.map((stream) => stream.granted)) > maxJobs ? shares : null;
}

/** Divides `amount` so that no stream gets more than it wants and equal demands get equal shares. */
function fill(amount: number, wanted: readonly number[]): number[] {
  const given = wanted.map(() => 0);
  let left = amount;
  let open = wanted.length;
  for (const [index, want] of [...wanted.entries()].toSorted(([, a], [, b]) => a - b)) {
    const share = Math.min(want, Math.floor(left / open));
    given[index] = share;
    left -= share;
    open -= 1;
  }
  return given;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
