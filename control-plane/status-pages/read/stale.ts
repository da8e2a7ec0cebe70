import type { ShownFacts } from "#control-plane/state/shown/shown.ts";
import type { PageView } from "#control-plane/status-pages/page.ts";

/**
 * Returns whether the statuses on a page are too old to be trusted: each monitor that is checked by a schedule has its
 * newest observation more than two intervals and a timeout ago. A monitor without an observation counts from its
 * creation. Without such monitors a page is never stale.
 */
export function findStale(monitors: readonly ShownFacts[], now: Date): PageView["stale"] {
  const scheduled = monitors.filter(({ schedule }) => schedule !== null);
  if (scheduled.length === 0 || !scheduled.every((monitor) => isOverdue(monitor, now))) return null;
  const times = scheduled.flatMap(({ lastCheckedAt }) => lastCheckedAt?.getTime() ?? []);
  return { at: times.length === 0 ? null : new Date(Math.max(...times)) };
}

function isOverdue({ schedule, lastCheckedAt, createdAt }: ShownFacts, now: Date): boolean {
  if (schedule === null) return false;
  const allowedMs = (2 * schedule.intervalSeconds + schedule.timeoutSeconds) * 1_000;
  return now.getTime() - (lastCheckedAt ?? createdAt).getTime() > allowedMs;
}
