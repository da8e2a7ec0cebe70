import type { Random } from "#shared/time/clock.ts";

/** Maximum waits of a back-off in milliseconds: after the first failure, and after many. */
interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Returns the milliseconds to wait after `failures` consecutive failures (1 or more). The ceiling doubles with each
 * failure, from `firstMs` up to `longestMs`. The wait is random between half the ceiling and the ceiling: the
 * randomness keeps a fleet from reconnecting simultaneously, and the lower bound keeps the first retry from being
 * immediate.
 */
export function backoffDelayMs({ firstMs, longestMs }: Backoff, failures: number, random: Random): number {
  const ceiling = Math.min(longestMs, firstMs * 2 ** (failures - 1));
  const [high = 0, low = 0] = random.bytes(2);
  return ceiling * (0.5 + (high * 256 + low) / 131_072);
}
