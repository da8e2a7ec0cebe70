import type { OverallStatus, ShownStatus } from "#control-plane/status-pages/page.ts";

/**
 * Returns the status of everything on a page from the statuses of its active monitors. The first match counts:
 *
 * 1. unknown: there is no monitor, or none is known.
 * 2. major_outage: all known ones are down.
 * 3. partial_outage: one is down; in maintenance none is.
 * 4. unknown: more than half of them are unknown.
 * 5. degraded_performance: one is degraded.
 * 6. under_maintenance: one is in maintenance.
 * 7. operational.
 */
export function overallStatus(active: readonly ShownStatus[]): OverallStatus {
  const count = (wanted: ShownStatus) => active.filter((status) => status === wanted).length;
  const known = active.length - count("unknown");
  if (known === 0) return "unknown";
  if (count("down") === known) return "major_outage";
  if (count("down") > 0) return "partial_outage";
  if (count("unknown") * 2 > active.length) return "unknown";
  if (count("degraded") > 0) return "degraded_performance";
  return count("maintenance") > 0 ? "under_maintenance" : "operational";
}
