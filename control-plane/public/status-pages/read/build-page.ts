import type { App } from "#control-plane/core/app.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { publicCause } from "#control-plane/outages/incidents/cause/public-cause.ts";
import { publishedIncidents, type PublishedIncident } from "#control-plane/outages/incidents/published.ts";
import { outageTitle, pastTitle } from "#control-plane/outages/incidents/texts.ts";
import { COMPOSITE_LOCATION } from "#control-plane/watching/checking/timeout-sweep/composite.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/watching/heartbeats/state-settings.ts";
import { coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { publishedWindows } from "#control-plane/outages/maintenance/published.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import { uptimePercent } from "#control-plane/outages/history/timeline.ts";
import { summariesOf, type MonitorSummary } from "#control-plane/outages/state/summary.ts";
import type {
  PageView,
  ShownGroup,
  ShownIncident,
  ShownMonitor,
  ShownStatus,
  OverallStatus,
  ShownDay,
} from "#control-plane/public/status-pages/page.ts";
import { lookOf } from "#control-plane/public/status-pages/look.ts";
import type { AddressedPage } from "#control-plane/public/status-pages/page-url.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";

/**
 * Builds what a page shows, with a number of statements that does not depend on its monitors. `canSubscribe`: whether
 * visitors of public pages can subscribe by mail.
 */
export async function buildView(
  {
    sql,
    clock,
    history,
    urlOf,
    canSubscribe,
  }: Pick<App, "sql" | "clock"> & {
    readonly history: Pick<History, "days" | "lastResponses" | "hourlyLatency">;
    readonly urlOf: (page: AddressedPage) => string;
    readonly canSubscribe: boolean;
  },
  page: StatusPage,
): Promise<PageView> {
  const now = clock.now();
  const ids = page.monitors.map(({ id }) => id);
  const facts = await summariesOf(sql, page.accountId, ids);
  const known = ids.flatMap((id) => facts.get(id) ?? []);
  const active = known.filter(({ isActive }) => isActive);
  const checked = active.flatMap(({ id, lastCheckedAt }) => (lastCheckedAt === null ? [] : [{ id, lastCheckedAt }]));
  const [covered, times, newest, responses, incidents, maintenance] = await Promise.all([
    readCovered(sql, page.accountId, active, now),
    history.days(known, SHOWN_DAYS),
    history.lastResponses(checked),
    page.response_graph ? history.hourlyLatency(known.map(({ id }) => id)) : null,
    publishedIncidents(sql, { ...page, pageId: page.id, monitorIds: ids }, now),
    publishedWindows(sql, page.accountId, known, now),
  ]);
  const days = lastDays(now);
  const shown = new Map(
    page.monitors.flatMap(({ id, name }): [number, ShownMonitor][] => {
      const monitor = facts.get(id);
      if (monitor === undefined) return [];
      const status = statusOf(monitor, covered.has(id));
      const bars = showDays(days, times.get(id) ?? [], uptimePercent);
      const { changedAt } = monitor;
      const responseTimeMs = newest.get(id) ?? null;
      return [[id, { id, name: name ?? monitor.name, status, responseTimeMs, changedAt, ...bars }]];
    }),
  );
  return {
    title: page.title,
    slug: page.slug,
    url: urlOf(page),
    description: page.description,
    footer: page.footer,
    homepageUrl: page.homepage_url,
    ...lookOf(page),
    overallStatus: overallStatus(active.map(({ id }) => shown.get(id)?.status ?? "unknown")),
    groups: groupMonitors(page, shown),
    incidents: incidents
      .filter(({ monitor, resolvedAt }) => monitor === null || resolvedAt !== null || !covered.has(monitor.id))
      .map((incident) => showIncident(incident, shown, page.show_causes)),
    maintenance,
    responses,
    stale: findStale(active, now),
    canSubscribe: canSubscribe && page.is_public,
    changedAt: page.updatedAt,
    checkedAt: checked.length === 0 ? null : new Date(Math.max(...checked.map((row) => row.lastCheckedAt.getTime()))),
    generatedAt: now,
  };
}

/** Returns the overall status of pages of an account by id, with a number of statements that does not depend on them. */
export async function readOverall(
  sql: Queryable,
  accountId: number,
  pages: readonly { readonly id: number; readonly monitors: readonly { readonly id: number }[] }[],
  now: Date,
): Promise<ReadonlyMap<number, OverallStatus>> {
  const ids = new Set(pages.flatMap(({ monitors }) => monitors.map(({ id }) => id)));
  const facts = await summariesOf(sql, accountId, [...ids]);
  const active = [...facts.values()].filter(({ isActive }) => isActive);
  const covered = await readCovered(sql, accountId, active, now);
  const statuses = new Map(active.map((monitor) => [monitor.id, statusOf(monitor, covered.has(monitor.id))]));
  return new Map(
    pages.map(({ id, monitors }) => [id, overallStatus(monitors.flatMap((one) => statuses.get(one.id) ?? []))]),
  );
}

/** Returns which of these monitors are in maintenance now. */
export async function readCovered(
  sql: Queryable,
  accountId: number,
  monitors: readonly MonitorSummary[],
  now: Date,
): Promise<ReadonlySet<number>> {
  const spans = await coveredBetween(sql, accountId, monitors, now, new Date(now.getTime() + 1));
  return new Set(spans.keys());
}

function statusOf({ isActive, status, isDegraded }: MonitorSummary, isCovered: boolean): ShownStatus {
  if (!isActive) return "unknown";
  if (isCovered) return "maintenance";
  return status === "up" && isDegraded ? "degraded" : status;
}

/** Names in the lists of locations of monitors that no location checks: visitors would take them for places. */
const NO_PLACES: ReadonlySet<string> = new Set([HEARTBEAT_LOCATION, COMPOSITE_LOCATION]);

/** A monitor that the page does not show, of an incident that it shows. */
const OTHER_COMPONENT = "Another component";

/** Groups the monitors of a page; groups without a monitor are left out. */
function groupMonitors({ monitors, groups }: StatusPage, shown: ReadonlyMap<number, ShownMonitor>) {
  const grouped = new Set(groups.flatMap(({ monitorIds }) => monitorIds));
  const others = monitors.filter(({ id }) => !grouped.has(id)).map(({ id }) => id);
  const all = [{ name: null, monitorIds: others }, ...groups];
  return all
    .map(({ name, monitorIds }): ShownGroup => ({ name, monitors: monitorIds.flatMap((id) => shown.get(id) ?? []) }))
    .filter((group) => group.monitors.length > 0);
}

/**
 * Shows an incident on a page. An outage has the monitor's name on the page, which can hide that of the monitor, and a
 * cause that says nothing about the target, unless the page shows causes.
 */
export function showIncident(
  { monitor, cause, regions, ...incident }: PublishedIncident,
  shown: ReadonlyMap<number, Pick<ShownMonitor, "name">>,
  showCauses: boolean,
): ShownIncident {
  const isFirstTitle = monitor !== null && incident.title === outageTitle(monitor.name);
  const titleOf = incident.resolvedAt === null ? outageTitle : pastTitle;
  return {
    ...incident,
    title: isFirstTitle ? titleOf(shown.get(monitor.id)?.name ?? OTHER_COMPONENT) : incident.title,
    isOutage: monitor !== null,
    regions: showCauses ? regions.filter((region) => !NO_PLACES.has(region)) : [],
    cause: cause === null ? null : showCauses ? cause.message : publicCause(cause.code),
    monitorIds: incident.monitorIds.filter((id) => shown.has(id)),
  };
}

/**
 * Returns whether the statuses on a page are too old to be trusted: each monitor that is checked by a schedule has its
 * newest observation more than two intervals and a timeout ago. A monitor without an observation counts from its
 * creation. Without such monitors a page is never stale.
 */
export function findStale(monitors: readonly MonitorSummary[], now: Date): PageView["stale"] {
  const scheduled = monitors.filter(({ schedule }) => schedule !== null);
  if (scheduled.length === 0 || !scheduled.every((monitor) => isOverdue(monitor, now))) return null;
  const times = scheduled.flatMap(({ lastCheckedAt }) => lastCheckedAt?.getTime() ?? []);
  return { at: times.length === 0 ? null : new Date(Math.max(...times)) };
}

function isOverdue({ schedule, lastCheckedAt, createdAt }: MonitorSummary, now: Date): boolean {
  if (schedule === null) return false;
  const allowedMs = (2 * schedule.intervalSeconds + schedule.timeoutSeconds) * 1_000;
  return now.getTime() - (lastCheckedAt ?? createdAt).getTime() > allowedMs;
}

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

/** Number of days that a page shows. */
const SHOWN_DAYS = 90;
const DAY_MS = 86_400_000;

/** How long a monitor was in each status, in milliseconds. */
interface Times {
  readonly upMs: number;
  readonly downMs: number;
  readonly maintenanceMs: number;
}

/** Returns the names of the last UTC days, oldest first. */
function lastDays(now: Date): readonly string[] {
  return Array.from({ length: SHOWN_DAYS }, (_, index) =>
    new Date(now.getTime() - (SHOWN_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Returns what a page shows of a monitor's days; `percent` gives the uptime of times. */
function showDays(
  days: readonly string[],
  times: readonly Times[],
  percent: (times: Times) => number | null,
): Pick<ShownMonitor, "days" | "uptime90"> {
  const shown = days.map((day, index): ShownDay => {
    const time = times[index] ?? NO_TIMES;
    return {
      day,
      uptime: percent(time),
      downSeconds: Math.round(time.downMs / 1_000),
      maintenanceSeconds: Math.round(time.maintenanceMs / 1_000),
    };
  });
  const sum = (field: "upMs" | "downMs") => times.reduce((total, time) => total + time[field], 0);
  return { days: shown, uptime90: percent({ upMs: sum("upMs"), downMs: sum("downMs"), maintenanceMs: 0 }) };
}

const NO_TIMES: Times = { upMs: 0, downMs: 0, maintenanceMs: 0 };
