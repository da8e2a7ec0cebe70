import { collectDefaultMetrics, type Registry } from "prom-client";

/**
 * Gauges whose names end in `_total`, which promtool rejects. The sums over the labels of `nodejs_active_handles` and so
 * on have the same values.
 */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/**
 * Registers the process metrics: CPU, memory, event loop, garbage collection. They have the standard names
 * (`process_*`, `nodejs_*`), so that published dashboards and alert rules read them.
 */
export function collectProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
}
