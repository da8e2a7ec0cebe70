import type { Sql } from "#control-plane/core/database/connect.ts";
import type { HeartbeatHistory, RecordedPing } from "#test/support/heartbeats/history.ts";

/** Statuses by their numbers in monitor_status_changes. */
const STATUSES: Readonly<Record<number, string>> = { 1: "up", 2: "down", 3: "unknown" };

/** Makes the database keep a copy of every ping, also of those that newer ones replace. */
export async function keepAllPings(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create table all_pings (id bigint generated always as identity, monitor_id bigint, number bigint, rid text, kind text,
      exit_code smallint, received_at timestamptz);
    create function keep_ping() returns trigger language plpgsql as $$
      begin
        insert into all_pings (monitor_id, number, rid, kind, exit_code, received_at)
          values (new.monitor_id, new.number, new.rid, new.kind, new.exit_code, new.received_at);
        return null;
      end $$;
    create trigger keep_ping after insert or update on heartbeat_pings for each row execute function keep_ping();`);
}

/** Reads what was recorded for a heartbeat. Call keepAllPings before its first ping. */
export async function readHistory(sql: Sql, id: number): Promise<Omit<HeartbeatHistory, "answered">> {
  const [own] = await sql<{ settings: string; status: string }[]>`
    select m.settings, t.status from monitors as m join monitor_states as t on t.monitor_id = m.id where m.id = ${id}`;
  if (own === undefined) throw new Error(`no monitor ${id}`);
  const { heartbeat } = JSON.parse(own.settings) as {
    readonly heartbeat: { readonly period_seconds: number; readonly grace_seconds: number };
  };
  const changes = await sql<{ status: number; at: Date }[]>`
    select status, at from monitor_status_changes where monitor_id = ${id} order by id`;
  const incidents = await sql<{ id: number; isOpen: boolean }[]>`
    select id, resolved_at is null as "isOpen" from incidents where monitor_id = ${id} order by id`;
  const events = await sql<{ type: string; incidentId: number | null }[]>`
    select type, incident_id as "incidentId" from events where monitor_id = ${id} order by created_at, id`;
  const pings = await sql<(Omit<RecordedPing, "receivedAt"> & { readonly receivedAt: Date })[]>`
    select number, rid, kind, exit_code as "exitCode", received_at as "receivedAt" from all_pings
    where monitor_id = ${id} order by number, id`;
  const kept = await sql<{ number: number }[]>`
    select number from heartbeat_pings where monitor_id = ${id} order by number`;
  return {
    periodMs: heartbeat.period_seconds * 1_000,
    graceMs: heartbeat.grace_seconds * 1_000,
    status: own.status,
    changes: changes.map(({ status, at }) => ({ status: STATUSES[status] ?? `${status}`, at: at.getTime() })),
    incidents,
    events,
    pings: pings.map((ping) => ({ ...ping, receivedAt: ping.receivedAt.getTime() })),
    kept: kept.map(({ number }) => number),
  };
}
