import type { Queryable } from "#control-plane/core/database/connect.ts";
import { findPingTimes } from "#control-plane/watching/heartbeats/store.ts";

/** When the pings of a heartbeat came and are expected. */
interface PingTimes {
  /** null: no ping yet. */
  readonly lastPingAt: Date | null;
  /** null if nothing is expected. */
  readonly deadlineAt: Date | null;
}

/** Reads the times of heartbeats by id; other monitors are missing. */
export async function readPingTimes(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, PingTimes>> {
  const rows = await findPingTimes(sql, ids);
  return new Map(rows.map(({ monitorId, ...times }) => [monitorId, times] as const));
}
