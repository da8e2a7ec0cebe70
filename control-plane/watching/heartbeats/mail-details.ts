import type { Queryable } from "#control-plane/core/database/connect.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { findNewsOf } from "#control-plane/watching/heartbeats/store.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";

/** What a mail about a heartbeat contains besides its change. */
interface HeartbeatMailDetails {
  readonly schedule: Pick<HeartbeatSettings, "cron" | "timezone" | "period_seconds" | "grace_seconds">;
  /** null: none is known. */
  readonly lastSuccessAt: Date | null;
  /** Body of the newest ping that reported a failure, untrusted; null: none, or it had none. */
  readonly failingBody: string | null;
}

/** Reads what a mail contains about a heartbeat as of an instant; null if it is no longer a heartbeat. */
export async function readHeartbeatMailDetails(
  sql: Queryable,
  monitorId: number,
  at: Date,
): Promise<HeartbeatMailDetails | null> {
  const row = await findNewsOf(sql, monitorId, at);
  const schedule = row === null ? null : readStoredSettings(row.settings).heartbeat;
  if (row === null || schedule === null) return null;
  return { schedule, lastSuccessAt: row.lastSuccessAt, failingBody: row.failingBody };
}
