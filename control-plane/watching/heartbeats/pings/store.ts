import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import type { HeartbeatRecord } from "#control-plane/watching/heartbeats/apply-ping.ts";
import type { StoredPing } from "#control-plane/watching/heartbeats/fold-pings.ts";
import type { RecordRow } from "#control-plane/watching/heartbeats/rows.ts";
import { encodeRuns } from "#control-plane/watching/heartbeats/runs.ts";
import { isoTime, recordColumns } from "#control-plane/watching/heartbeats/store.ts";
import { encodeVerdicts } from "#control-plane/watching/heartbeats/verdicts.ts";

/** A heartbeat that was found by its token, as it was read. */
export interface FoundHeartbeat extends RecordRow {
  /** Position of its token in the list. */
  readonly index: number;
  readonly monitorId: number;
  readonly accountId: number;
  readonly version: number;
  readonly isActive: boolean;
  /** JSON of MonitorSettings. */
  readonly settings: string;
  /** JSON of MonitorState. */
  readonly state: string;
}

/** Finds heartbeats by the hashes of their tokens. Tokens that nobody has are missing. */
export async function findHeartbeats(sql: Sql, hashes: readonly Buffer[]): Promise<readonly FoundHeartbeat[]> {
  return sql<FoundHeartbeat[]>`
    select (given.n - 1)::integer as index, h.monitor_id as "monitorId", m.account_id as "accountId", h.version, m.is_active as "isActive",
      m.settings, t.state, ${recordColumns(sql, "h")}
    from unnest(${hashes.map((hash) => hash.toString("hex"))}::text[]) with ordinality as given (hash, n)
    join heartbeats as h on h.token_hash = decode(given.hash, 'hex')
    join monitors as m on m.id = h.monitor_id
    join monitor_states as t on t.monitor_id = h.monitor_id`;
}

/** Pings of one heartbeat, or of addresses that do not exist, to be written. */
export interface WrittenPings {
  /** The monitor, or the number of a decoy. */
  readonly id: number;
  /** The version that was read. Decoys have none to compare. */
  readonly version: number;
  readonly record: HeartbeatRecord;
  readonly pings: readonly StoredPing[];
}

/** Number of pings that are kept of each heartbeat: ping number n replaces number n - 100. */
const KEPT = 100;

/**
 * Writes the pings of different heartbeats in one statement, and those to addresses that do not exist, which do the same
 * work on decoys. A heartbeat that was changed since it was read is left alone. Returns the monitors that were written.
 * Its lists are long and have no index: none is joined with another, and "is true" keeps IN from becoming such a join.
 */
export async function writePings(
  sql: Queryable,
  heartbeats: readonly WrittenPings[],
  decoys: readonly WrittenPings[],
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ id: number }[]>`
    with locked as materialized (
      select g.* from heartbeats as h
        join (${givenRecords(sql, heartbeats)}) as g on g.id = h.monitor_id and g.version = h.version
      order by h.monitor_id for update of h
    ), written as (
      update heartbeats as h set ${recordAssignments(sql, "h")} from locked as g where h.monitor_id = g.id
      returning h.monitor_id
    ), stored as (
      insert into heartbeat_pings (monitor_id, ${pingColumns(sql)})
      select p.id, ${pingValues(sql)} from (${givenPings(sql, heartbeats)}) as p
      where (p.id in (select monitor_id from written)) is true
      on conflict (monitor_id, slot) do update set ${pingAssignments(sql)}
    ), decoy_locked as materialized (
      select g.* from heartbeat_decoys as d join (${givenRecords(sql, decoys)}) as g on g.id = d.id
      order by d.id for update of d
    ), decoy_written as (
      update heartbeat_decoys as h set ${recordAssignments(sql, "h")} from decoy_locked as g where h.id = g.id
      returning h.id
    ), decoy_stored as (
      insert into heartbeat_decoy_pings (decoy_id, ${pingColumns(sql)})
      select p.id, ${pingValues(sql)} from (${givenPings(sql, decoys)}) as p
      where (p.id in (select id from decoy_written)) is true
      on conflict (decoy_id, slot) do update set ${pingAssignments(sql)}
    )
    select monitor_id as id from written`;
  return new Set(rows.map(({ id }) => id));
}

function givenRecords(sql: Queryable, written: readonly WrittenPings[]) {
  const records = written.map(({ record }) => record);
  return sql`
    select * from unnest(
      ${written.map(({ id }) => id)}::bigint[],
      ${written.map(({ version }) => version)}::bigint[],
      ${records.map(({ pingCount }) => pingCount)}::bigint[],
      ${records.map(({ lastPingAt }) => isoTime(lastPingAt))}::timestamptz[],
      ${records.map(({ lastKind }) => lastKind)}::text[],
      ${records.map(({ lastDurationMs }) => lastDurationMs)}::bigint[],
      ${records.map(({ succeededAt }) => isoTime(succeededAt))}::timestamptz[],
      ${records.map(({ openRuns }) => encodeRuns(openRuns))}::text[],
      ${records.map(({ deadlineAt }) => isoTime(deadlineAt))}::timestamptz[],
      ${records.map(({ verdicts }) => encodeVerdicts(verdicts))}::text[],
      ${records.map(({ verdicts }) => verdicts.at(-1)?.number ?? 0)}::bigint[],
      ${records.map(({ verdicts }) => isoTime(verdicts[0]?.at ?? null))}::timestamptz[]
    ) as given (id, version, ping_count, last_ping_at, last_kind, last_duration_ms, succeeded_at, open_runs,
      deadline_at, verdicts, verdict_number, visit_at)`;
}

/**
 * A sweep that is planned earlier stays: the sweeper then finds the new deadline. So most pings touch no index. Verdicts
 * are due for a sweep at once: if this replica ends before the state follows them, a sweep makes it follow.
 */
function recordAssignments(sql: Queryable, table: string) {
  return sql`version = ${sql(table)}.version + 1, ping_count = g.ping_count, last_ping_at = g.last_ping_at,
    last_kind = g.last_kind, last_duration_ms = g.last_duration_ms, succeeded_at = g.succeeded_at,
    open_runs = g.open_runs, deadline_at = g.deadline_at, verdicts = g.verdicts, verdict_number = g.verdict_number,
    sweep_at = least(${sql(table)}.sweep_at, g.deadline_at, g.visit_at)`;
}

function givenPings(sql: Queryable, written: readonly WrittenPings[]) {
  // Later pings of a long list replace earlier ones, and a statement can write each row once.
  const pings = written.flatMap(({ id, pings: all }) => all.slice(-KEPT).map((ping) => ({ ...ping, id })));
  return sql`
    select * from unnest(
      ${pings.map(({ id }) => id)}::bigint[],
      ${pings.map(({ number }) => number % KEPT)}::smallint[],
      ${pings.map(({ number }) => number)}::bigint[],
      ${pings.map(({ receivedAt }) => isoTime(receivedAt))}::timestamptz[],
      ${pings.map(({ kind }) => kind)}::text[],
      ${pings.map(({ exitCode }) => exitCode)}::bigint[],
      ${pings.map(({ rid }) => rid)}::text[],
      ${pings.map(({ method }) => method)}::text[],
      ${pings.map(({ remoteAddr }) => remoteAddr)}::text[],
      ${pings.map(({ userAgent }) => userAgent)}::text[],
      ${pings.map(({ durationMs }) => durationMs)}::bigint[],
      ${pings.map(({ body }) => body)}::text[],
      ${pings.map(({ isBodyTruncated }) => (isBodyTruncated ? 1 : 0))}::integer[]
    ) as given (id, slot, number, received_at, kind, exit_code, rid, method, remote_addr, user_agent, duration_ms, body,
      body_truncated)`;
}

function pingColumns(sql: Queryable) {
  return sql`slot, number, received_at, kind, exit_code, rid, method, remote_addr, user_agent, duration_ms, body,
    body_truncated`;
}

function pingValues(sql: Queryable) {
  return sql`p.slot, p.number, p.received_at, p.kind, p.exit_code, p.rid, p.method, p.remote_addr, p.user_agent,
    p.duration_ms, p.body, p.body_truncated = 1`;
}

function pingAssignments(sql: Queryable) {
  return sql`number = excluded.number, received_at = excluded.received_at, kind = excluded.kind,
    exit_code = excluded.exit_code, rid = excluded.rid, method = excluded.method, remote_addr = excluded.remote_addr,
    user_agent = excluded.user_agent, duration_ms = excluded.duration_ms, body = excluded.body,
    body_truncated = excluded.body_truncated`;
}
