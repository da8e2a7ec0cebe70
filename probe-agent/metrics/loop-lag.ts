import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "#shared/time/clock.ts";

/** Measures the delay of this process's event loop. */
interface LoopLag {
  /** Returns the worst delay of the last one to two seconds in milliseconds, the same value to all callers. */
  worstMs(): number;
  /** Says whether jobs run. Without jobs, one look a second is enough. */
  watchClosely(jobsRun: boolean): void;
}

const SAMPLE_MS = 1_000;
/**
 * Interval between two looks while jobs run, in milliseconds. The histogram includes it, so that an idle loop shows this
 * value.
 */
const TICK_MS = 20;

/** Starts to measure. It does not keep the process alive. */
export function startLoopLag(clock: Pick<Clock, "monotonic">): LoopLag {
  const histogram = monitorEventLoopDelay({ resolution: TICK_MS });
  let last = 0;
  let sampledAt = clock.monotonic();
  setInterval(() => {
    const now = clock.monotonic();
    last = Math.max(worst(), now - sampledAt - SAMPLE_MS);
    sampledAt = now;
    histogram.reset();
  }, SAMPLE_MS).unref();
  const worst = () => (Number.isFinite(histogram.max) ? Math.max(0, histogram.max / 1e6 - TICK_MS) : 0);
  return {
    worstMs: () => Math.max(last, worst()),
    watchClosely(jobsRun) {
      if (jobsRun) histogram.enable();
      else histogram.disable();
    },
  };
}
