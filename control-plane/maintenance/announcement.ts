import type { Transaction } from "#control-plane/database/connect.ts";
import type { MaintenanceWindow } from "#control-plane/maintenance/window.ts";

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

/** Informs visitors in the transaction that writes the window. */
export type AnnounceWindow = (tx: Transaction, accountId: number, data: MaintenanceAnnouncement) => Promise<void>;

/** Describes a window for visitors. */
export function announcementOf(window: MaintenanceWindow): MaintenanceAnnouncement {
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
