import type { OverallStatus, ShownIncident, ShownMaintenance, ShownStatus } from "#control-plane/status-pages/page.ts";

/** A monitor's status in words. */
export const STATUS_WORDS: Readonly<Record<ShownStatus, string>> = {
  up: "Operational",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance",
  unknown: "Unknown",
};

/** The status of a whole page in words. */
export const OVERALL_WORDS: Readonly<Record<OverallStatus, string>> = {
  operational: "All systems operational",
  degraded_performance: "Degraded performance",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
  under_maintenance: "Under maintenance",
  unknown: "Status unknown",
};

/** The state of an incident in words. */
export const INCIDENT_WORDS: Readonly<Record<ShownIncident["status"], string>> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
};

/** The impact of an incident in words. */
export const IMPACT_WORDS: Readonly<Record<ShownIncident["impact"], string>> = {
  none: "No impact",
  minor: "Minor impact",
  major: "Major impact",
  critical: "Critical impact",
  maintenance: "Maintenance",
};

/** The state of a maintenance window in words. */
export const MAINTENANCE_WORDS: Readonly<Record<ShownMaintenance["status"], string>> = {
  scheduled: "Scheduled",
  in_progress: "In progress",
  completed: "Completed",
};

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns the UTC day of a time as YYYY-MM-DD. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Formats YYYY-MM-DD for people: "22 Nov 2026". */
export function formatDay(day: string): string {
  const [year = "", month = "", date = ""] = day.split("-");
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? ""} ${year}`;
}

/** Formats a time for people: "22 Nov 2026, 19:58 UTC". */
export function formatTime(time: Date): string {
  return `${formatDay(dayOf(time))}, ${time.toISOString().slice(11, 16)} UTC`;
}

/** Formats a percentage: "99.95 %". */
export function formatPercent(value: number): string {
  return `${value} %`;
}
