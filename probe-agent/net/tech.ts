import type { JobLimits } from "#probe-agent/net/limits.ts";
import type { TechPort, TechUnknown } from "#probe-agent/net/port/tech.ts";
import { createPool, type PoolOptions } from "#probe-agent/net/tech/pool.ts";

/** Makes the one pool of an agent; each job's port ends with its job. */
export function createTech(options: PoolOptions): (limits: JobLimits) => TechPort {
  const run = createPool(options);
  return ({ signal, deadline }) => ({
    detect(page, ms) {
      const until = Math.min(deadline, options.clock.monotonic() + ms);
      return Promise.race([run(page, until, signal), cancelled(signal)]);
    },
  });
}

function cancelled(signal: AbortSignal): Promise<TechUnknown> {
  return new Promise((resolve) => {
    const stop = (): void => resolve({ ok: false, reason: "cancelled" });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
