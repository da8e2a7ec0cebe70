import type { Static } from "typebox";
import type { Change } from "#control-plane/http/access/changes.ts";
import { diffResource } from "#control-plane/http/access/diff-resource.ts";
import { READ_ONLY, type SHOWN } from "#control-plane/outages/maintenance/schemas.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";

/** Returns a window as the API shows it. A window without a rule has an end, one with a rule has a duration. */
export function showWindow(window: MaintenanceWindow): Static<typeof SHOWN> {
  const { startsAt, durationSeconds, rrule } = window;
  const endsAt = new Date(startsAt.getTime() + durationSeconds * 1_000);
  return {
    id: window.id,
    title: window.title,
    monitor_ids: [...window.monitorIds],
    tags: [...window.tags],
    starts_at: startsAt.toISOString(),
    ends_at: rrule === null ? endsAt.toISOString() : null,
    rrule,
    duration_seconds: rrule === null ? null : durationSeconds,
    timezone: window.timezone,
    public: window.isPublic,
    status: window.status,
    next_starts_at: window.nextStartsAt?.toISOString() ?? null,
    current_ends_at: window.currentEndsAt?.toISOString() ?? null,
    created_at: window.createdAt.toISOString(),
    updated_at: window.updatedAt.toISOString(),
  };
}

/** Returns the change of a window that was written, for the log of changes; `before`: as it was, null if it is new. */
export function changeOf(window: MaintenanceWindow, before: MaintenanceWindow | null): Change {
  const subject = { resource: "maintenance", id: window.id, name: window.title } as const;
  if (before === null) return { ...subject, action: "created" };
  return { ...subject, action: "changed", changed: diffResource(writable(before), writable(window), []) };
}

/** Returns the fields that users write. The status is one of them only where it says whether a window is cancelled. */
function writable(window: MaintenanceWindow): Readonly<Record<string, unknown>> {
  const status = window.isCancelled ? "cancelled" : "scheduled";
  return Object.fromEntries(
    Object.entries({ ...showWindow(window), status }).filter(([name]) => !READ_ONLY.includes(name)),
  );
}
