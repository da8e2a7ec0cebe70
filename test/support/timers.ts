import { systemClock } from "#test/support/clock.ts";
import { createTimers } from "#control-plane/core/timers.ts";

/** Timers of the host's clock that never rest. What a test repeats ends when the test stops it. */
export const liveTimers = createTimers(systemClock);
