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

const HUNT_MS = 1_000;
const HUNT_LONGEST_MS = 30_000;
/** A balancer of ten replicas has shown each of them by then, nineteen times of twenty. */
const HUNT_TRIES = 50;

/**
 * Milliseconds to wait before dialling an address again that led to a replica with a stream already, while another one
 * is missing: a second or two, after many tries half a minute (decisions 7, every 30 s).
 */
export function huntDelayMs(tries: number, random: Random): number {
  if (tries > HUNT_TRIES) return HUNT_LONGEST_MS;
  const [byte = 0] = random.bytes(1);
  return HUNT_MS * (1 + byte / 256);
}
