import { monitorEventLoopDelay } from "node:perf_hooks";

const SAMPLE_MS = 1_000;

/** Worst delay of this process's event loop in the last one to two seconds, milliseconds; the same for all who ask. */
export function startLoopLag(): () => number {
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  let last = 0;
  setInterval(() => {
    last = worst();
    histogram.reset();
  }, SAMPLE_MS).unref();
  const worst = () => (Number.isFinite(histogram.max) ? histogram.max / 1e6 : 0);
  return () => Math.max(last, worst());
}
