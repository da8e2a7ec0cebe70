import type { Queryable } from "#control-plane/database/connect.ts";
import type { PingKind } from "#control-plane/heartbeats/ping.ts";
import { readPings } from "#control-plane/heartbeats/store.ts";

/** A recorded ping as the API shows it. */
export interface ShownPing {
  readonly received_at: string;
  readonly kind: PingKind;
  readonly exit_code: number | null;
  /** Id of the run that the ping belongs to. */
  readonly rid: string | null;
  readonly method: string;
  readonly remote_addr: string;
  readonly user_agent: string | null;
  readonly duration_ms: number | null;
  readonly body: string | null;
  readonly body_truncated: boolean;
}

/** Reads the 20 newest pings of a heartbeat, newest first. */
export async function readShownPings(sql: Queryable, monitorId: number): Promise<readonly ShownPing[]> {
  const pings = await readPings(sql, monitorId);
  return pings.map((ping) => ({
    received_at: ping.receivedAt.toISOString(),
    kind: ping.kind,
    exit_code: ping.exitCode,
    rid: ping.rid,
    method: ping.method,
    remote_addr: ping.remoteAddr,
    user_agent: ping.userAgent,
    duration_ms: ping.durationMs,
    body: ping.body,
    body_truncated: ping.isBodyTruncated,
  }));
}
