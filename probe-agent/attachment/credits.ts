/** How much one stream holds and wants of the agent's one pool of jobs. */
export interface StreamDemand {
  /** Jobs of this stream that run here. */
  readonly running: number;
  /** Jobs that its hub would send at once, by its last beat; a 1.0 hub never says, so 0. */
  readonly waiting: number;
}

/** A stream and the credits its hub was last told of. */
export interface StreamGrant extends StreamDemand {
  readonly granted: number;
}

/** Each stream keeps this part of the pool, so that a quiet replica's next job starts without asking. */
const FLOOR_SHARE = 1 / 20;

/**
 * Shares `maxJobs` out among the streams, in their order; the sum is exactly `maxJobs`. First a small floor each, then
 * what runs and waits, the small demands in full and the large ones alike (max-min fairness), then the rest evenly:
 * headroom, which is also how a stream of a 1.0 hub grows. With more streams than jobs some get 0.
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

/** What each of so many streams keeps at the least. */
export function creditFloor(maxJobs: number, count: number): number {
  return Math.min(Math.floor(maxJobs / count), Math.max(1, Math.ceil(maxJobs * FLOOR_SHARE)));
}

/**
 * The credits to tell now, between two beats; null where nothing is won by it: no stream that is short of credits would
 * get more, and no more than `maxJobs` are promised in all.
 */
export function rebalance(maxJobs: number, streams: readonly StreamGrant[]): number[] | null {
  const shares = shareCredits(maxJobs, streams);
  const helped = streams.some((stream, index) => {
    const short = stream.waiting > 0 || stream.running >= stream.granted;
    return short && (shares[index] ?? 0) > stream.granted;
  });
  return helped || sum(streams.map((stream) => stream.granted)) > maxJobs ? shares : null;
}

/** Deals `amount` out: nobody gets more than wanted, and nobody less than another who wanted as much. */
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
