/** 2^32 divided by the golden ratio: consecutive multiples of it are spread evenly (Knuth, TAOCP volume 3, 6.4). */
const GOLDEN = 2_654_435_769;
const TWO_32 = 2 ** 32;

/**
 * Returns the position of a slot's planned times within the interval, in whole seconds. Monitors are spread evenly over
 * the interval by their ids, and so are the locations of one monitor; `ordinal` is the location's index.
 */
export function phaseSeconds(monitorId: number, ordinal: number, locations: number, intervalSeconds: number): number {
  const byId = ((BigInt(monitorId) * BigInt(GOLDEN)) % BigInt(TWO_32)) / 1n;
  const share = Number(byId) / TWO_32 + ordinal / locations;
  return Math.floor((share % 1) * intervalSeconds);
}

/** The next planned time of a slot. */
interface NextPlanned {
  /** Unix milliseconds. */
  readonly at: number;
  /** Number of planned times between the last one and this one that no check can serve any more. */
  readonly missed: number;
}

/**
 * Returns the first planned time after both `plannedMs`, the time that the slot was last planned for, and `nowMs`. All
 * are Unix milliseconds. Planned times do not depend on when checks run, so a late check delays no later one.
 */
export function nextPlanned(
  plannedMs: number,
  nowMs: number,
  { intervalSeconds, phaseSeconds: phase }: { readonly intervalSeconds: number; readonly phaseSeconds: number },
): NextPlanned {
  const intervalMs = intervalSeconds * 1_000;
  const after = (time: number): number =>
    (Math.floor((time - phase * 1_000) / intervalMs) + 1) * intervalMs + phase * 1_000;
  const at = after(Math.max(plannedMs, nowMs));
  return { at, missed: Math.round((at - after(plannedMs)) / intervalMs) };
}
