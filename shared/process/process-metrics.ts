import { collectDefaultMetrics, type Registry } from "prom-client";

/** Sums that prom-client names like counters though they are gauges; the same figures stand by type without them. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** Registers the process's own figures: CPU, memory, event loop, garbage collection. `prefix` ends in an underscore. */
export function collectProcessMetrics(register: Registry, prefix: string): void {
  collectDefaultMetrics({ register, prefix });
  for (const name of MISNAMED) register.removeSingleMetric(`${prefix}${name}`);
}
