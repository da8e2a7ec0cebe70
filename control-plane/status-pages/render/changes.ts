import type { ShownIncident, ShownMaintenance } from "#control-plane/status-pages/page.ts";

/** A view has the maintenance of the next 14 days, so each window was visible from this time before its start on. */
const AHEAD_MS = 14 * 86_400_000;

/** When a thing appeared on the page and when it last changed. */
interface Changes {
  readonly first: Date;
  readonly last: Date;
}

/** Returns when an incident began, and the time of its newest update or of its end. */
export function changesOfIncident({ startedAt, resolvedAt, updates }: ShownIncident): Changes {
  const times = [startedAt, ...(resolvedAt === null ? [] : [resolvedAt]), ...updates.map(({ at }) => at)];
  return { first: startedAt, last: new Date(Math.max(...times.map((time) => time.getTime()))) };
}

/** Returns when an occurrence of maintenance appeared on the page at the latest, and when its status last changed. */
export function changesOfMaintenance({ status, startsAt, endsAt }: ShownMaintenance): Changes {
  const first = new Date(startsAt.getTime() - AHEAD_MS);
  return { first, last: { scheduled: first, in_progress: startsAt, completed: endsAt }[status] };
}
