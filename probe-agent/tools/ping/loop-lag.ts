import type { Net } from "#probe-agent/toolkit/net.ts";

const TICK_MS = 5;

/**
 * Measures how late timers of this process fire. The returned function ends the measurement and returns the worst lag
 * in milliseconds.
 */
export function watchLoopLag(net: Net): () => number {
  let worst = 0;
  let armedAt = net.monotonic();
  const measure = (): void => {
    worst = Math.max(worst, net.monotonic() - armedAt - TICK_MS);
    armedAt = net.monotonic();
  };
  const timer = setInterval(measure, TICK_MS);
  return () => {
    clearInterval(timer);
    measure();
    return worst;
  };
}
