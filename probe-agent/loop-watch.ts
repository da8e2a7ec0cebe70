import type { Clock } from "#shared/time/clock.ts";

/** Watches how long the agent's own event loop was held up. */
export interface LoopWatch {
  /** Returns the longest time without a turn of the event loop since this moment (monotonic clock), in milliseconds. */
  lagSince(startedAt: number): number;
}

/** A watch that counts on a call at every turn of the event loop. */
interface LagRecord extends LoopWatch {
  /** Called every TICK_MS. A late call is a lag. */
  tick(): void;
}

interface Lag {
  readonly endedAt: number;
  readonly ms: number;
}

/** Interval between two looks at the event loop, in milliseconds. */
export const TICK_MS = 250;
/** Shorter lags, in milliseconds, are not recorded: they explain no timeout. */
const LEAST_MS = 500;
/** Lags older than every job, in milliseconds, are forgotten. */
const KEPT_MS = 600_000;

/** Creates a record of the lags, from calls at a regular interval. */
export function createLagRecord(clock: Pick<Clock, "monotonic">): LagRecord {
  let turnAt = clock.monotonic();
  let lags: Lag[] = [];
  const tick = (): void => {
    const now = clock.monotonic();
    const ms = now - turnAt - TICK_MS;
    turnAt = now;
    if (ms >= LEAST_MS) lags = [...lags.filter(({ endedAt }) => now - endedAt < KEPT_MS), { endedAt: now, ms }];
  };
  return {
    tick,
    lagSince(startedAt) {
      // The timeout that is asked about may have fired before the tick that is due.
      tick();
      return lags.reduce((longest, { endedAt, ms }) => Math.max(longest, Math.min(ms, endedAt - startedAt)), 0);
    },
  };
}

/** Starts to watch this process's event loop. It does not keep the process alive. */
export function startLoopWatch(clock: Pick<Clock, "monotonic">): LoopWatch {
  const record = createLagRecord(clock);
  setInterval(() => record.tick(), TICK_MS).unref();
  return record;
}
