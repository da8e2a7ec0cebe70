import type {
  PageView,
  ShownIncident,
  ShownMaintenance,
  ShownMonitor,
} from "#control-plane/public/status-pages/page.ts";
import { listMonitors } from "#control-plane/public/status-pages/render/monitor-names.ts";

/** When a thing appeared on the page and when it last changed. */
interface Changes {
  readonly first: Date;
  readonly last: Date;
}

/** Returns when an incident began, and the time of its newest update or of its end. */
export function changesOfIncident({ startedAt, resolvedAt, updates }: ShownIncident): Changes {
  const times = [startedAt, ...(resolvedAt === null ? [] : [resolvedAt]), ...updates.map(({ at }) => at)];
  return { first: startedAt, last: newestOf(times) };
}

/**
 * Returns when an occurrence of maintenance was announced, and when its status last changed. One that was written after
 * its planned start changed when it was announced.
 */
export function changesOfMaintenance({ status, startsAt, endsAt, announcedAt }: ShownMaintenance): Changes {
  const changed = { scheduled: announcedAt, in_progress: startsAt, completed: endsAt }[status];
  return { first: announcedAt, last: newestOf([announcedAt, changed]) };
}

/** Returns when what a page shows of some of its monitors last changed, apart from their figures. */
export function lastChangeOfMonitors(view: PageView, monitors: readonly ShownMonitor[]): Date {
  const ids = new Set(monitors.map(({ id }) => id));
  const windows = view.maintenance.filter(
    ({ status, monitorIds }) => status !== "scheduled" && monitorIds.some((id) => ids.has(id)),
  );
  return newestOf([
    view.changedAt,
    ...monitors.map(({ changedAt }) => changedAt),
    ...windows.map((window) => changesOfMaintenance(window).last),
  ]);
}

/** Returns when what a page shows last changed, apart from its figures: the same for views of the same facts. */
export function lastChangeOfPage(view: PageView): Date {
  return newestOf([
    lastChangeOfMonitors(view, listMonitors(view)),
    ...view.incidents.map((incident) => changesOfIncident(incident).last),
    ...view.maintenance.map((window) => changesOfMaintenance(window).last),
  ]);
}

function newestOf(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map((time) => time.getTime())));
}
