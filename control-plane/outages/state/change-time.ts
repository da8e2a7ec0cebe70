import type { StateEvent } from "#control-plane/outages/state/events.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

/**
 * Returns from when on the history shows the new status after an event, Unix milliseconds; null if the status did not
 * change. An outage counts from its first failing check, but not from before a time in which the status was unknown:
 * nobody knew then, also if the same outage continues.
 */
export function statusChangedAt(event: StateEvent, { status, changedAt }: MonitorState): number | null {
  switch (event.kind) {
    case "down": {
      if (status !== "unknown" || changedAt === null) return event.startedAt;
      const since = Math.min(event.at, ...event.failing.map((failing) => failing.since));
      return Math.min(event.at, Math.max(since, changedAt));
    }
    case "up":
      return event.recoveredAt;
    case "unknown":
      return event.at;
    default:
      return null;
  }
}
