import type { Queryable } from "#control-plane/core/database/connect.ts";
import { countChanges, readNewestChanges } from "#control-plane/outages/history/store.ts";
import type { Status } from "#control-plane/outages/history/timeline.ts";

/** A change of a monitor's status. */
interface ShownStatusChange {
  readonly at: Date;
  readonly previous: Status;
  readonly status: Status;
}

/** The newest changes of a monitor's status. */
export interface NewestStatusChanges {
  /** Newest first. */
  readonly changes: readonly ShownStatusChange[];
  /** Number of all changes that are kept. */
  readonly total: number;
}

/** Reads the newest changes of a monitor's status. Before its first one it was unknown. */
export async function readStatusChanges(
  sql: Queryable,
  monitorId: number,
  limit: number,
): Promise<NewestStatusChanges> {
  // One more, for the status before the oldest one.
  const rows = await readNewestChanges(sql, monitorId, limit + 1);
  const total = await countChanges(sql, monitorId);
  const changes = rows.slice(0, limit).map(({ at, status }, index) => {
    return { at: new Date(at), previous: rows[index + 1]?.status ?? "unknown", status };
  });
  return { changes, total };
}
