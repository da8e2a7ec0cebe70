import type { Clock } from "#shared/time/clock.ts";

/** Watches how long the agent's own event loop was held up. */
export interface LoopWatch {
  /**
   * Begins a watch. The returned function ends it and returns the longest time without a turn of the event loop since
   * then, in milliseconds.
   */
  start(): () => number;
}

/** A record of lags that counts on a call at every turn of the event loop. */
interface LagRecord {
  /** Called every TICK_MS. A late call is a lag. */
  tick(): void;
  /** Returns the longest time without a turn of the event loop since this moment (monotonic clock), in milliseconds. */
  lagSince(startedAt: number): number;
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

/** Creates the watch of this process's event loop. It looks while jobs watch, and does not keep the process alive. */
export function createLoopWatch(clock: Pick<Clock, "monotonic">): LoopWatch {
  let record = createLagRecord(clock);
  let watching = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      if (watching === 0) {
        record = createLagRecord(clock);
        timer = setInterval(() => record.tick(), TICK_MS).unref();
      }
      watching += 1;
      const startedAt = clock.monotonic();
      return () => {
        watching -= 1;
        if (watching === 0) clearInterval(timer);
        return record.lagSince(startedAt);
      };
    },
  };
}
