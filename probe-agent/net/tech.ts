import type { JobLimits } from "#probe-agent/net/limits.ts";
import type { TechPort } from "#probe-agent/net/port/tech.ts";
import { createPool, type PoolOptions } from "#probe-agent/net/tech/pool.ts";
import { cancelled } from "#probe-agent/net/workers/cancelled.ts";

/** Makes the one pool of an agent; each job's port ends with its job. */
export function createTech(options: PoolOptions): (limits: JobLimits) => TechPort {
  const run = createPool(options);
  return ({ signal, deadline }) => ({
    async detect(page, ms) {
      const until = Math.min(deadline, options.clock.monotonic() + ms);
      const found = await Promise.race([run(page, until, signal), cancelled(signal)]);
      return found === "cancelled" ? { ok: false, reason: found } : found;
    },
  });
}
