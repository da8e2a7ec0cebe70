import { monitorEventLoopDelay } from "node:perf_hooks";

const SAMPLE_MS = 1_000;
/** The histogram counts from one tick to the next: a loop without any delay shows this much. */
const TICK_MS = 20;

/** Worst delay of this process's event loop in the last one to two seconds, milliseconds; all callers get the same value. */
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
