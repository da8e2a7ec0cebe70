import type { Random } from "#shared/clock.ts";

/** The longest waits of a back-off, milliseconds: after the first failure, and after many. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Milliseconds to wait after `failures` failures in a row (1 or more): the ceiling doubles with each failure, from
 * `firstMs` up to `longestMs`, and the wait is a random half to whole of it. The randomness keeps a fleet from coming
 * back in one moment; the lower half keeps the first retry from being immediate.
 */
export function backoffDelayMs({ firstMs, longestMs }: Backoff, failures: number, random: Random): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  const [high = 0, low = 0] = random.bytes(2);
  return ceiling * (0.5 + (high * 256 + low) / 131_072);
}
