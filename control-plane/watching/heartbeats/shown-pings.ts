import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { PingKind, PingSearch } from "#control-plane/watching/heartbeats/ping.ts";
import { readPings } from "#control-plane/watching/heartbeats/store.ts";

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

/** Number of pings with which a heartbeat is shown. */
const NEWEST = 20;

/** Reads the 20 newest pings of a heartbeat, newest first. */
export async function readShownPings(sql: Queryable, monitorId: number): Promise<readonly ShownPing[]> {
  const all: PingSearch = { result: null, before: null, after: null };
  return (await readPings(sql, monitorId, all, NEWEST)).map(showPing);
}

/** A page of the pings of a heartbeat. */
export interface FoundPings {
  /** Newest first. */
  readonly pings: readonly ShownPing[];
  /** `before` of the next older page; null if there is none. */
  readonly older: number | null;
  /** `after` of the next newer page; null if there is none. */
  readonly newer: number | null;
}

/** Searches the stored pings of a heartbeat, one page at a time. */
export async function searchPings(
  sql: Queryable,
  monitorId: number,
  search: PingSearch,
  limit: number,
): Promise<FoundPings> {
  const { before, after } = search;
  const isNewer = before === null && after !== null;
  const rows = await readPings(sql, monitorId, search, limit + 1);
  const isFull = rows.length > limit;
  const page = isNewer && isFull ? rows.slice(1) : rows.slice(0, limit);
  const [newest = null, oldest = null] = [page[0]?.number, page.at(-1)?.number];
  return {
    pings: page.map(showPing),
    older: isNewer ? (oldest ?? after + 1) : isFull ? oldest : null,
    newer: isNewer ? (isFull ? newest : null) : before === null ? null : (newest ?? before - 1),
  };
}

function showPing(ping: Awaited<ReturnType<typeof readPings>>[number]): ShownPing {
  return {
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
  };
}
