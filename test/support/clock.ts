import { randomBytes } from "node:crypto";
import type { Clock, Random } from "#shared/time/clock.ts";

/** The host's own clock, for tests that do not control the time. */
export const systemClock: Clock = { now: () => new Date(), monotonic: () => performance.now() };

/** Random bytes of the host. */
export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/** Creates a clock that a test advances. Its wall time starts at `start`. */
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
