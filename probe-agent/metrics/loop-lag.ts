import { monitorEventLoopDelay } from "node:perf_hooks";

const SAMPLE_MS = 1_000;
/** Interval between two samples, in milliseconds. The histogram includes it, so that an idle loop shows this value. */
const TICK_MS = 20;

/**
 * Starts to measure the delay of this process's event loop. The returned function gives the worst delay of the last one
 * to two seconds in milliseconds, the same value to all callers.
 */
export function startLoopLag(): () => number {
  const histogram = monitorEventLoopDelay({ resolution: TICK_MS });
  histogram.enable();
  let last = 0;
  setInterval(() => {
    last = worst();
    histogram.reset();
  }, SAMPLE_MS).unref();
  const worst = () => (Number.isFinite(histogram.max) ? Math.max(0, histogram.max / 1e6 - TICK_MS) : 0);
  return () => Math.max(last, worst());
}
