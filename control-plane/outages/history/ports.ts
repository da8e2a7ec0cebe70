import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { Span } from "#control-plane/outages/history/period.ts";

/** What history needs to know about a monitor to compute its uptime. */
export interface HistoryMonitor {
  readonly id: number;
  readonly accountId: number;
  /** Maintenance windows can name tags. */
  readonly tags: readonly string[];
  readonly createdAt: Date;
}

/**
 * Finds the maintenance of monitors of one account between two times: spans by monitor id, in any order, also beyond
 * the two times. A monitor without maintenance can be missing.
 */
export type MaintenanceBetween = (
  sql: Queryable,
  accountId: number,
  monitors: readonly { readonly id: number; readonly tags: readonly string[] }[],
  from: Date,
  to: Date,
) => Promise<ReadonlyMap<number, readonly Span[]>>;
