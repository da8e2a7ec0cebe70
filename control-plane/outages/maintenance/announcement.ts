import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { toPageEvent } from "#control-plane/notify/events/page-event.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";

/** What visitors are informed of: a public window, once. Data of an event. */
export interface MaintenanceAnnouncement {
  readonly maintenance_id: number;
  readonly title: string;
  /** ISO 8601: the first start. */
  readonly starts_at: string;
  readonly duration_seconds: number;
  readonly is_repeated: boolean;
  readonly monitor_ids: readonly number[];
  readonly tags: readonly string[];
}

/** Informs visitors of a window, in the transaction that writes it. `at` is when. */
export async function announceWindow(
  tx: Transaction,
  events: Pick<Events, "publish">,
  { accountId, window, at }: { readonly accountId: number; readonly window: MaintenanceWindow; readonly at: Date },
): Promise<void> {
  const data = announcementOf(window);
  await events.publish(tx, [toPageEvent({ type: "page.maintenance", accountId, at, data, incidentId: null })]);
}

/** Describes a window for visitors. */
function announcementOf(window: MaintenanceWindow): MaintenanceAnnouncement {
  return {
    maintenance_id: window.id,
    title: window.title,
    starts_at: (window.nextStartsAt ?? window.startsAt).toISOString(),
    duration_seconds: window.durationSeconds,
    is_repeated: window.rrule !== null,
    monitor_ids: window.monitorIds,
    tags: window.tags,
  };
}
