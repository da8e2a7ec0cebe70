import type {
  OverallStatus,
  ShownIncident,
  ShownMaintenance,
  ShownMonitor,
  ShownStatus,
} from "#control-plane/public/status-pages/page.ts";

/** A monitor's status in words. */
export const STATUS_LABELS: Readonly<Record<ShownStatus, string>> = {
  up: "Operational",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance",
  unknown: "Unknown",
};

/** The status of a whole page in words. */
export const OVERALL_LABELS: Readonly<Record<OverallStatus, string>> = {
  operational: "All systems operational",
  degraded_performance: "Degraded performance",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
  under_maintenance: "Under maintenance",
  unknown: "Status unknown",
};

/** The state of an incident in words. */
export const INCIDENT_LABELS: Readonly<Record<ShownIncident["status"], string>> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
};

/** The impact of an incident in words. */
export const IMPACT_LABELS: Readonly<Record<ShownIncident["impact"], string>> = {
  none: "No impact",
  minor: "Minor impact",
  major: "Major impact",
  critical: "Critical impact",
  maintenance: "Maintenance",
};

/** The state of a maintenance window in words. */
export const MAINTENANCE_LABELS: Readonly<Record<ShownMaintenance["status"], string>> = {
  scheduled: "Scheduled",
  in_progress: "In progress",
  completed: "Completed",
};

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const LONG_MONTHS = "January February March April May June July August September October November December".split(" ");

/** Returns the UTC day of a time as YYYY-MM-DD. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Formats YYYY-MM-DD for people: "22 Nov 2026". */
export function formatDay(day: string): string {
  const [year = "", month = "", date = ""] = day.split("-");
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? ""} ${year}`;
}

/** Formats YYYY-MM for people: "November 2026". */
export function formatMonth(month: string): string {
  const [year = "", number = ""] = month.split("-");
  return `${LONG_MONTHS[Number(number) - 1] ?? ""} ${year}`;
}

/** Formats a time for people: "22 Nov 2026, 19:58 UTC". */
export function formatTime(time: Date): string {
  return `${formatDay(dayOf(time))}, ${time.toISOString().slice(11, 16)} UTC`;
}

/** Formats the day of a UTC day YYYY-MM-DD of the last months, without its year: "22 Nov". */
function formatRecentDay(day: string): string {
  return formatDay(day).replace(/ \d+$/, "");
}

/** Formats a percentage of three decimals with two, cut and not rounded, so that 100 % means 100 %: "99.99 %". */
export function formatPercent(value: number): string {
  return `${Math.floor(Math.round(value * 1_000) / 10) / 100} %`;
}

/** Number of days that a percentage of a page is about. */
const DAYS = 90;

/**
 * Says from when on a percentage is, for the days of the monitors that it is about: "in 90 days", or the first day of
 * which something is known: "since 3 Nov".
 */
export function formatSince(monitors: readonly Pick<ShownMonitor, "days">[]): string {
  const first = monitors.flatMap(({ days }) => days.find(({ uptime }) => uptime !== null)?.day ?? []).toSorted()[0];
  const isWhole = first === undefined || monitors.some(({ days }) => days[0]?.day === first);
  return isWhole ? `in ${DAYS} days` : `since ${formatRecentDay(first)}`;
}
