import type { Random } from "#shared/clock.ts";

const SHORTEST_MS = 500;
const LONGEST_MS = 15_000;

/**
 * Milliseconds to wait before dialling again: doubled from 0.5 s to at most 15 s (decisions 7), of which a random
 * half to whole, so that a fleet does not come back in one moment. The first failure waits 0.5 s at the least.
 */
export function reconnectDelayMs(failures: number, random: Random): number {
  const ceiling = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** Math.min(failures, 10));
  const [high = 0, low = 0] = random.bytes(2);
  return Math.max(SHORTEST_MS, ceiling * (0.5 + (high * 256 + low) / 131_072));
}
