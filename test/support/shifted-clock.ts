import type { Clock } from "#shared/time/clock.ts";
import { systemClock } from "#test/support/clock.ts";

/** Creates the host's clock, whose monotonic time a test moves ahead. */
export function createShiftedClock(): Clock & { advance(ms: number): void } {
  let ahead = 0;
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() + ahead,
    advance: (ms) => {
      ahead += ms;
    },
  };
}
