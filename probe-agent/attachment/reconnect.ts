import { backoffDelayMs } from "#shared/backoff.ts";
import type { Random } from "#shared/clock.ts";

/** The first retry waits 0.5 to 1 s, later ones at most 15 s. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000 };

/**
 * Returns how many milliseconds to wait before dialling an address again after `failures` successive failures (1 or
 * more).
 */
export function reconnectDelayMs(failures: number, random: Random): number {
  return backoffDelayMs(BACKOFF, failures, random);
}

const HUNT_MS = 1_000;
const HUNT_LONGEST_MS = 30_000;
/**
 * Number of tries after which the wait gets longer. A balancer of ten replicas has led to each of them after 50 dials
 * in 19 of 20 cases.
 */
const HUNT_TRIES = 50;

/**
 * Returns how many milliseconds to wait before dialling again an address that led to an already attached replica while
 * another replica is missing: one to two seconds, and 30 s after many tries.
 */
export function huntDelayMs(tries: number, random: Random): number {
  if (tries > HUNT_TRIES) return HUNT_LONGEST_MS;
  const [byte = 0] = random.bytes(1);
  return HUNT_MS * (1 + byte / 256);
}
