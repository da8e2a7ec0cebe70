import type { Random } from "#shared/clock.ts";
import { huntDelayMs, reconnectDelayMs } from "#probe-agent/attachment/reconnect.ts";

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
