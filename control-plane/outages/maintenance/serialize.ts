import type { Change } from "#control-plane/http/access/changes.ts";
import { changedFields, show } from "#control-plane/http/resource.ts";
import { maintenanceWindow, type ShownWindow } from "#control-plane/outages/maintenance/resource.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";

/** Returns a window as the API shows it. A window without a rule has an end, one with a rule has a duration. */
export function showWindow(window: MaintenanceWindow): ShownWindow {
  const { startsAt, durationSeconds, rrule } = window;
  const endsAt = new Date(startsAt.getTime() + durationSeconds * 1_000);
  return show(maintenanceWindow, window, {
    id: window.id,
    monitor_ids: [...window.monitorIds],
    tags: [...window.tags],
    starts_at: startsAt.toISOString(),
    ends_at: rrule === null ? endsAt.toISOString() : null,
    rrule,
    duration_seconds: rrule === null ? null : durationSeconds,
    public: window.isPublic,
    status: window.status,
    next_starts_at: window.nextStartsAt?.toISOString() ?? null,
    current_ends_at: window.currentEndsAt?.toISOString() ?? null,
    created_at: window.createdAt.toISOString(),
    updated_at: window.updatedAt.toISOString(),
  });
}

/** Returns the change of a window that was written, for the log of changes; `before`: as it was, null if it is new. */
export function changeOf(window: MaintenanceWindow, before: MaintenanceWindow | null): Change {
  const subject = { resource: "maintenance", id: window.id, name: window.title } as const;
  if (before === null) return { ...subject, action: "created" };
  const changed = changedFields(maintenanceWindow, writable(before), writable(window));
  return { ...subject, action: "changed", changed };
}

/** Returns a window for the log. The status is a field that users write only where it says whether a window is cancelled. */
function writable(window: MaintenanceWindow): Readonly<Record<string, unknown>> {
  return { ...showWindow(window), status: window.isCancelled ? "cancelled" : "scheduled" };
}
