import type {
  OverallStatus,
  PageView,
  ShownIncident,
  ShownMaintenance,
  ShownMonitor,
  ShownStatus,
} from "#control-plane/public/status-pages/page.ts";
import {
  changesOfIncident,
  changesOfMaintenance,
  lastChangeOfMonitors,
  lastChangeOfPage,
} from "#control-plane/public/status-pages/render/changes.ts";
import { listMonitors } from "#control-plane/public/status-pages/render/monitor-names.ts";
import { OVERALL_LABELS } from "#control-plane/public/status-pages/render/labels.ts";

// The shape of Atlassian Statuspage's API v2, which many programs read. It has no word for an unknown status: such a
// monitor has degraded_performance, because "operational" would be wrong, and its description has the reason.

const COMPONENT_STATUS: Readonly<Record<ShownStatus, string>> = {
  up: "operational",
  degraded: "degraded_performance",
  down: "major_outage",
  maintenance: "under_maintenance",
  unknown: "degraded_performance",
};

/** Statuses of components from the best to the worst; a group has the worst of its components. */
const BY_SEVERITY = [
  "operational",
  "under_maintenance",
  "degraded_performance",
  "partial_outage",
  "major_outage",
] as const;

const INDICATORS: Readonly<Record<OverallStatus, string>> = {
  operational: "none",
  degraded_performance: "minor",
  partial_outage: "major",
  major_outage: "critical",
  under_maintenance: "maintenance",
  unknown: "minor",
};

const UNKNOWN = "Status unknown: there was no recent check.";

/** Renders the summary: page, status, components, unresolved incidents, maintenance that is scheduled or runs. */
export function renderSummary(view: PageView): string {
  return render(view, {
    components: listComponents(view),
    incidents: view.incidents.filter(isOpen).map((incident) => describeIncident(view, incident)),
    scheduled_maintenances: view.maintenance.filter(isAhead).map((window) => describeWindow(view, window)),
    status: describeStatus(view),
  });
}

/** Renders the status of the whole page. */
export function renderStatus(view: PageView): string {
  return render(view, { status: describeStatus(view) });
}

/** Renders the components: groups and monitors. */
export function renderComponents(view: PageView): string {
  return render(view, { components: listComponents(view) });
}

/** Renders the incidents of the last 14 days. */
export function renderIncidents(view: PageView): string {
  return render(view, { incidents: view.incidents.map((incident) => describeIncident(view, incident)) });
}

/** Renders the incidents that are not resolved. */
export function renderUnresolved(view: PageView): string {
  return render(view, {
    incidents: view.incidents.filter(isOpen).map((incident) => describeIncident(view, incident)),
  });
}

/** Renders the maintenance windows. */
export function renderWindows(view: PageView): string {
  return renderThose(view, view.maintenance);
}

/** Renders the maintenance that is in progress: scheduled-maintenances/active.json. */
export function renderActiveWindows(view: PageView): string {
  return renderThose(
    view,
    view.maintenance.filter(({ status }) => status === "in_progress"),
  );
}

/** Renders the maintenance to come: scheduled-maintenances/upcoming.json. */
export function renderUpcomingWindows(view: PageView): string {
  return renderThose(
    view,
    view.maintenance.filter(({ status }) => status === "scheduled"),
  );
}

function renderThose(view: PageView, windows: readonly ShownMaintenance[]): string {
  return render(view, { scheduled_maintenances: windows.map((window) => describeWindow(view, window)) });
}

function render(view: PageView, rest: object): string {
  const { slug, title, url } = view;
  const page = { id: slug, name: title, url, time_zone: "Etc/UTC", updated_at: lastChangeOfPage(view).toISOString() };
  return JSON.stringify({ page, ...rest });
}

function describeStatus({ overallStatus }: PageView) {
  return { indicator: INDICATORS[overallStatus], description: OVERALL_LABELS[overallStatus] };
}

function isOpen({ resolvedAt }: ShownIncident): boolean {
  return resolvedAt === null;
}

function isAhead({ status }: ShownMaintenance): boolean {
  return status !== "completed";
}

/** Fields that groups and monitors have in common; `monitors`: those of the group, or the monitor itself. */
function baseOf(view: PageView, monitors: readonly ShownMonitor[]) {
  // A view has no time of creation of a monitor: the first of its 90 days is the earliest known one.
  const first = listMonitors(view)[0]?.days[0]?.day;
  const updatedAt = lastChangeOfMonitors(view, monitors).toISOString();
  return {
    created_at: first === undefined ? updatedAt : `${first}T00:00:00.000Z`,
    updated_at: updatedAt,
    showcase: false,
    start_date: first ?? null,
    page_id: view.slug,
    only_show_if_degraded: false,
  };
}

/** A monitor without its group. */
function describeMonitor(view: PageView, monitor: ShownMonitor, position: number, groupId: string | null) {
  const { id, name, status } = monitor;
  return {
    id: String(id),
    name,
    status: COMPONENT_STATUS[status],
    ...baseOf(view, [monitor]),
    position,
    description: status === "unknown" ? UNKNOWN : null,
    group_id: groupId,
    group: false,
  };
}

/** Lists each group before its monitors; monitors without a group have none. Positions count within a group. */
function listComponents(view: PageView): readonly object[] {
  return view.groups.flatMap(({ name, monitors }, index) => {
    const groupId = name === null ? null : `group-${index}`;
    const members = monitors.map((monitor, at) => describeMonitor(view, monitor, at + 1, groupId));
    if (name === null) return members;
    const group = {
      id: groupId,
      name,
      status: worstOf(members.map(({ status }) => status)),
      ...baseOf(view, monitors),
      position: index + 1,
      description: null,
      group_id: null,
      group: true,
      components: members.map(({ id }) => id),
    };
    return [group, ...members];
  });
}

function worstOf(statuses: readonly string[]): string {
  return BY_SEVERITY.findLast((status) => statuses.includes(status)) ?? "operational";
}

/** Returns the components of an incident or a window, with their groups' ids. */
function componentsOf(view: PageView, monitorIds: readonly number[]) {
  return view.groups.flatMap(({ name, monitors }, index) =>
    monitors.flatMap((monitor, at) =>
      monitorIds.includes(monitor.id)
        ? [describeMonitor(view, monitor, at + 1, name === null ? null : `group-${index}`)]
        : [],
    ),
  );
}

function describeIncident(view: PageView, incident: ShownIncident) {
  const { id, title, status, impact, startedAt, resolvedAt, updates, monitorIds } = incident;
  const started = startedAt.toISOString();
  const monitored = updates.find((update) => update.status === "monitoring");
  return {
    id: `incident-${id}`,
    name: title,
    status,
    created_at: started,
    updated_at: changesOfIncident(incident).last.toISOString(),
    monitoring_at: monitored?.at.toISOString() ?? null,
    resolved_at: resolvedAt?.toISOString() ?? null,
    impact,
    shortlink: `${view.url}/incidents/${id}`,
    started_at: started,
    page_id: view.slug,
    incident_updates: updates.map((update) => {
      const at = update.at.toISOString();
      return {
        id: `update-${update.id}`,
        status: update.status,
        body: update.text,
        incident_id: `incident-${id}`,
        created_at: at,
        updated_at: at,
        display_at: at,
        affected_components: [],
      };
    }),
    components: componentsOf(view, monitorIds),
  };
}

function describeWindow(view: PageView, window: ShownMaintenance) {
  const { id, title, status, startsAt, endsAt, monitorIds } = window;
  const changes = changesOfMaintenance(window);
  return {
    id: `maintenance-${id}`,
    name: title,
    status,
    created_at: changes.first.toISOString(),
    updated_at: changes.last.toISOString(),
    monitoring_at: null,
    resolved_at: status === "completed" ? endsAt.toISOString() : null,
    impact: "maintenance",
    shortlink: `${view.url}#maintenance-${id}`,
    started_at: startsAt.toISOString(),
    page_id: view.slug,
    incident_updates: [],
    components: componentsOf(view, monitorIds),
    scheduled_for: startsAt.toISOString(),
    scheduled_until: endsAt.toISOString(),
  };
}
