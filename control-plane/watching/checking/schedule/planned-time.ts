/** 2^32 divided by the golden ratio: consecutive multiples of it are spread evenly (Knuth, TAOCP volume 3, 6.4). */
const GOLDEN = 2_654_435_769;
const TWO_32 = 2 ** 32;

/**
 * Returns the position of a schedule entry's planned times within the interval, in milliseconds. Monitors are spread
 * evenly over the interval by their ids, and so are the locations of one monitor; `ordinal` is the location's index.
 * Whole seconds would not do: a thousand checks a second would all begin at its start, and what else the service does
 * would wait for them.
 */
export function phaseMs(monitorId: number, ordinal: number, locations: number, intervalSeconds: number): number {
  const intervalMs = intervalSeconds * 1_000;
  const byId = Number((BigInt(monitorId) * BigInt(GOLDEN)) % BigInt(TWO_32));
  return (Math.floor((byId / TWO_32) * intervalMs) + Math.floor((ordinal * intervalMs) / locations)) % intervalMs;
}

/** The next planned time of a schedule entry. */
interface NextPlanned {
  /** Unix milliseconds. */
  readonly at: number;
  /** Number of planned times between the last one and this one that no check can serve any more. */
  readonly missed: number;
}

/**
 * Returns the first planned time after both `plannedMs`, the time that the schedule entry was last planned for, and
 * `nowMs`. All are Unix milliseconds. Planned times do not depend on when checks run, so a late check delays no later
 * one.
 */
export function nextPlanned(
  plannedMs: number,
  nowMs: number,
  { intervalSeconds, phaseMs: phase }: { readonly intervalSeconds: number; readonly phaseMs: number },
): NextPlanned {
  const intervalMs = intervalSeconds * 1_000;
  const after = (time: number): number => (Math.floor((time - phase) / intervalMs) + 1) * intervalMs + phase;
  const at = after(Math.max(plannedMs, nowMs));
  return { at, missed: Math.round((at - after(plannedMs)) / intervalMs) };
}
