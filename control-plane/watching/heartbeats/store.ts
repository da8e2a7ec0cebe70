import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { RecordRow } from "#control-plane/watching/heartbeats/rows.ts";
import type { StoredToken } from "#control-plane/watching/heartbeats/token.ts";
import type { PingKind, PingSearch } from "#control-plane/watching/heartbeats/ping.ts";

/** Inserts heartbeats with their tokens. */
export async function insertHeartbeats(
  tx: Transaction,
  heartbeats: readonly (StoredToken & { readonly id: number })[],
): Promise<void> {
  await tx`
    insert into heartbeats (monitor_id, token_hash, token_sealed)
    select * from ${given(tx, heartbeats, { id: "bigint", hash: "bytea", sealed: "bytea" })}`;
}

/** Deletes heartbeats with their pings. */
export async function deleteHeartbeats(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx`delete from heartbeats where monitor_id = any(${[...ids]}::bigint[])`;
}

/** Replaces the token of a heartbeat. */
export async function updateToken(tx: Transaction, id: number, { hash, sealed }: StoredToken): Promise<void> {
  await tx`
    update heartbeats set token_hash = ${hash}, token_sealed = ${sealed}, version = version + 1
    where monitor_id = ${id}`;
}

/**
 * Makes heartbeats wait for their first ping, as new ones do. What the newest ping was stays; what pings have said about
 * the status is done.
 */
export async function resetHeartbeats(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx`
    with locked as materialized (
      select monitor_id from heartbeats where monitor_id = any(${[...ids]}::bigint[]) order by monitor_id for update
    )
    update heartbeats as h
    set succeeded_at = null, open_runs = '[]', deadline_at = null, sweep_at = null,
      judged_number = ping_count, version = version + 1
    from locked where h.monitor_id = locked.monitor_id`;
}

/** Locks heartbeats until the transaction ends, in the order in which pings lock them. Other monitors are missing. */
export async function lockRecords(
  tx: Transaction,
  ids: readonly number[],
): Promise<readonly (RecordRow & { readonly monitorId: number })[]> {
  return tx<(RecordRow & { readonly monitorId: number })[]>`
    select monitor_id as "monitorId", ${recordColumns(tx)} from heartbeats
    where monitor_id = any(${[...ids]}::bigint[]) order by monitor_id for update`;
}

/** Sets the deadlines of locked heartbeats, and sweeps each then if it has one. */
export async function updateDeadlines(
  tx: Transaction,
  deadlines: readonly { readonly id: number; readonly deadlineAt: Date | null }[],
): Promise<void> {
  await tx`
    update heartbeats as h set deadline_at = given.deadline_at, sweep_at = least(h.sweep_at, given.deadline_at),
      judged_number = h.ping_count, version = h.version + 1
    from ${given(tx, deadlines, { id: "bigint", deadlineAt: "timestamptz" })} where h.monitor_id = given.id`;
}

/** A heartbeat as reads show it. */
export type ShownHeartbeat = RecordRow & { readonly monitorId: number; readonly tokenSealed: Uint8Array };

/** Reads heartbeats. */
export async function readHeartbeats(sql: Queryable, ids: readonly number[]): Promise<readonly ShownHeartbeat[]> {
  return sql<ShownHeartbeat[]>`
    select monitor_id as "monitorId", token_sealed as "tokenSealed", ${recordColumns(sql)}
    from heartbeats where monitor_id = any(${[...ids]}::bigint[])`;
}

/** Reads when the pings of heartbeats came and are expected. */
export async function findPingTimes(
  sql: Queryable,
  ids: readonly number[],
): Promise<
  readonly { readonly monitorId: number; readonly lastPingAt: Date | null; readonly deadlineAt: Date | null }[]
> {
  return sql`
    select monitor_id as "monitorId", last_ping_at as "lastPingAt", deadline_at as "deadlineAt"
    from heartbeats where monitor_id = any(${[...ids]}::bigint[])`;
}

/** A stored ping. */
interface PingRow {
  /** 1 for the first ping of its heartbeat. */
  readonly number: number;
  readonly receivedAt: Date;
  readonly kind: PingKind;
  readonly exitCode: number | null;
  readonly rid: string | null;
  readonly method: string;
  readonly remoteAddr: string;
  readonly userAgent: string | null;
  readonly durationMs: number | null;
  readonly body: string | null;
  readonly isBodyTruncated: boolean;
}

/** Reads stored pings of a heartbeat, newest first. Few are stored of each: a search reads them all. */
export async function readPings(
  sql: Queryable,
  id: number,
  { result, before, after }: PingSearch,
  limit: number,
): Promise<readonly PingRow[]> {
  const isNewer = before === null && after !== null;
  const rows = await sql<PingRow[]>`
    select number, received_at as "receivedAt", kind, exit_code as "exitCode", rid, method,
      remote_addr as "remoteAddr", user_agent as "userAgent", duration_ms as "durationMs", body,
      body_truncated as "isBodyTruncated"
    from heartbeat_pings
    where monitor_id = ${id} ${before === null ? sql`` : sql`and number < ${before}`}
      ${isNewer ? sql`and number > ${after}` : sql``}
      ${result === null ? sql`` : sql`and ${result} = case when kind <> 'exit' then kind when exit_code = 0 then 'success' else 'fail' end`}
    order by number ${isNewer ? sql`asc` : sql`desc`} limit ${limit}`;
  return isNewer ? rows.toReversed() : rows;
}

/** The settings of a heartbeat, and what its pings had said by an instant. */
interface HeartbeatNews {
  /** JSON of MonitorSettings. */
  readonly settings: string;
  readonly lastSuccessAt: Date | null;
  /** Body of the newest ping that reported a failure. */
  readonly failingBody: string | null;
}

/** Reads the settings and the news of a heartbeat; null if there is none. */
export async function findNewsOf(sql: Queryable, id: number, at: Date): Promise<HeartbeatNews | null> {
  const [row] = await sql<HeartbeatNews[]>`
    select m.settings, failing.body as "failingBody", greatest(
        case when h.succeeded_at <= ${at} then h.succeeded_at end,
        (select max(received_at) from heartbeat_pings
          where monitor_id = h.monitor_id and received_at <= ${at} and (kind = 'success' or exit_code = 0))
      ) as "lastSuccessAt"
    from heartbeats as h join monitors as m on m.id = h.monitor_id
      left join lateral (
        select body from heartbeat_pings
        where monitor_id = h.monitor_id and received_at <= ${at} and (kind = 'fail' or exit_code <> 0)
        order by number desc limit 1
      ) as failing on true
    where h.monitor_id = ${id}`;
  return row ?? null;
}

/** Returns the columns of RecordRow. */
export function recordColumns(sql: Queryable, table = "heartbeats") {
  const of = sql(table);
  return sql`${of}.ping_count as "pingCount", ${of}.last_ping_at as "lastPingAt", ${of}.last_kind as "lastKind",
    ${of}.last_duration_ms as "lastDurationMs", ${of}.succeeded_at as "succeededAt", ${of}.open_runs as "openRuns",
    ${of}.deadline_at as "deadlineAt", ${of}.verdicts, ${of}.judged_number as "judgedNumber"`;
}

/** Formats a time for a parameter of type timestamptz[]; the client cannot send arrays of dates. */
export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
