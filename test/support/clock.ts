import { randomBytes } from "node:crypto";
import type { Clock, Random } from "#shared/clock.ts";

/** The host's own clock, for tests in which time just passes. */
export const systemClock: Clock = { now: () => new Date(), monotonic: () => performance.now() };

/** The host's randomness. */
export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/** A clock a test moves by hand; its wall time starts at `start`. */
export function createManualClock(start: Date): Clock & { advance(ms: number): void } {
  let elapsed = 0;
  return {
    now: () => new Date(start.getTime() + elapsed),
    monotonic: () => elapsed,
    advance: (ms) => {
      elapsed += ms;
    },
  };
}
