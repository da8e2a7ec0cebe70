import type { Random } from "#shared/time/clock.ts";
import { backoffDelayMs } from "#shared/time/backoff.ts";

/** How a stream ended. */
export interface StreamEnd {
  /** Whether a replica had welcomed it. */
  readonly wasAttached: boolean;
  /** Whether it led to a replica that already has a stream. */
  readonly duplicate: boolean;
}

/** Delays before addresses are dialled again. */
export interface Redials {
  /** Reports whether the address must not be dialled yet. */
  isWaiting(address: string): boolean;
  /** Called when a dial of the address led to a welcome. Its failures are forgotten. */
  succeeded(address: string): void;
  /** Starts the wait after a stream has ended and returns its length in milliseconds. */
  failed(address: string, end: StreamEnd): number;
  stop(): void;
}

/** The first retry waits 0.5 to 1 s, later ones at most 15 s. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000 };

const HUNT_MS = 1_000;
const HUNT_LONGEST_MS = 30_000;
/**
 * Number of tries after which the wait gets longer. A balancer of ten replicas has led to each of them after 50 dials
 * in 19 of 20 cases.
 */
const HUNT_TRIES = 50;

/**
 * Waits with back-off between two dials of the same address. The loss of an attached stream counts as the first
 * failure. `onDue` is called after each wait.
 */
export function createRedials(random: Random, onDue: (end: StreamEnd) => void): Redials {
  const failures = new Map<string, number>();
  const waits = new Map<string, NodeJS.Timeout>();
  return {
    isWaiting: (address) => waits.has(address),
    succeeded: (address) => void failures.delete(address),
    failed(address, end) {
      const count = end.wasAttached ? 1 : (failures.get(address) ?? 0) + 1;
      failures.set(address, count);
      const delayMs = end.duplicate ? huntDelayMs(count, random) : reconnectDelayMs(count, random);
      const due = () => {
        waits.delete(address);
        onDue(end);
      };
      clearTimeout(waits.get(address));
      waits.set(address, setTimeout(due, delayMs));
      return delayMs;
    },
    stop() {
      for (const wait of waits.values()) clearTimeout(wait);
    },
  };
}

/**
 * Returns how many milliseconds to wait before dialling an address again after `failures` successive failures (1 or
 * more).
 */
export function reconnectDelayMs(failures: number, random: Random): number {
  return backoffDelayMs(BACKOFF, failures, random);
}

/**
 * Returns how many milliseconds to wait before dialling again an address that led to an already attached replica while
 * another replica is missing: one to two seconds, and 30 s after many tries.
 */
export function huntDelayMs(tries: number, random: Random): number {
  if (tries > HUNT_TRIES) return HUNT_LONGEST_MS;
  const [byte = 0] = random.bytes(1);
  return HUNT_MS * (1 + byte / 256);
}
