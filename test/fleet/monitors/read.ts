import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type {
  ChangeRow,
  CheckRow,
  DeliveryRow,
  EntryRow,
  EventRow,
  IncidentRow,
  MonitorHistory,
  MonitorRow,
  ScheduleEntryRow,
  Verdict,
} from "#test/fleet/monitors/records.ts";

/** A monitor as the runner created it. */
export interface MadeMonitor {
  readonly id: number;
  readonly number: number;
  readonly recipients: readonly string[];
  /** Length of its interval in the schedule. */
  readonly intervalMs: number;
  /** When its deletion was answered; null if it was not deleted. */
  readonly deletedAt: number | null;
}

type FromDatabase = Omit<MonitorHistory, "mails" | "actions" | "answers" | "truth" | "deadlocks">;

const STATUSES: Readonly<Record<number, Verdict>> = { 1: "up", 2: "down", 3: "unknown", 4: "up" };

/** Reads what a run left in the database, as of one moment. The server must keep commit times (track_commit_timestamp). */
export function readDatabase(sql: Sql, made: readonly MadeMonitor[]): Promise<FromDatabase> {
  return transact(sql, async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    return readTables(tx, made);
  });
}

async function readTables(sql: Queryable, made: readonly MadeMonitor[]): Promise<FromDatabase> {
  const ms = (column: string) => sql`(extract(epoch from ${sql(column)}) * 1000)::float8`;
  const written = sql`xmin::text::bigint as tx,
    (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as "committedAt"`;
  const checks = await sql<(Omit<CheckRow, "status" | "sending"> & RawCheck)[]>`
    select monitor_id as "monitorId", location, ${ms("checked_at")} as "checkedAt", status,
      response_ms as "responseMs", fault, lag_ms as "lagMs", missed, is_recheck as "isRecheck", ${written} from checks`;
  const changes = await sql<(Omit<ChangeRow, "status"> & { status: number })[]>`
    select monitor_id as "monitorId", ${ms("at")} as at, status, ${written} from monitor_status_changes`;
  const incidents = await sql<IncidentRow[]>`
    select id, monitor_id as "monitorId", ${ms("started_at")} as "startedAt", ${ms("confirmed_at")} as "confirmedAt",
      ${ms("resolved_at")} as "resolvedAt" from incidents order by id`;
  const entries = await sql<EntryRow[]>`
    select id, incident_id as "incidentId", kind, ${written} from incident_entries order by id`;
  const events = await sql<EventRow[]>`
    select id, type, monitor_id as "monitorId", incident_id as "incidentId", ${written} from events
    where type in ('monitor.down', 'monitor.up', 'monitor.degraded', 'reminder')`;
  const deliveries = await sql<DeliveryRow[]>`
    select d.id, d.event_id as "eventId", d.recipient, d.status, d.leader_id as "leaderId",
      d.status = 'pending' and d.held_by is not distinct from 'flapping' as "isHeld",
      (select count(*) from delivery_attempts as a where a.delivery_id = d.id and a.error_code = 'attempt_lost')
        as "lostAttempts"
    from deliveries as d`;
  const scheduleEntries = await sql<ScheduleEntryRow[]>`
    select monitor_id as "monitorId", location, interval_seconds::bigint * 1000 as "intervalMs",
      phase_ms as "phaseMs", ${ms("planned_at")} as "plannedAt" from monitor_slots`;
  const monitors = await readMonitors(sql, made);
  const [now] = await sql<[{ readAt: number }]>`select (extract(epoch from now()) * 1000)::float8 as "readAt"`;
  return {
    monitors,
    scheduleEntries,
    checks: checks.map(({ responseMs, fault, status, ...check }) => {
      const said = /scripted answer (\d+)/.exec(fault ?? "")?.[1];
      const sending = said === undefined ? responseMs : Number(said);
      return { ...check, sending, status: STATUSES[status] ?? "unknown" };
    }),
    changes: changes.map((change) => ({ ...change, status: STATUSES[change.status] ?? "unknown" })),
    incidents,
    entries,
    events,
    deliveries,
    readAt: now.readAt,
  };
}

interface RawCheck {
  readonly status: number;
  readonly responseMs: number | null;
  readonly fault: string | null;
}

async function readMonitors(sql: Queryable, made: readonly MadeMonitor[]): Promise<readonly MonitorRow[]> {
  const rows = await sql<{ id: number; isActive: boolean; settings: string; status: Verdict }[]>`
    select m.id, m.is_active as "isActive", m.settings, t.status
    from monitors as m join monitor_states as t on t.monitor_id = m.id`;
  const stored = new Map(rows.map((row) => [row.id, row]));
  return made.map(({ id, number, recipients, intervalMs, deletedAt }) => {
    const row = stored.get(id);
    const settings = JSON.parse(row?.settings ?? "{}") as Settings;
    return {
      id,
      number,
      recipients,
      intervalMs,
      isActive: row?.isActive ?? false,
      locations: settings.locations ?? [],
      quorum: settings.quorum ?? "majority",
      retries: settings.retries ?? 2,
      recovery: settings.recovery ?? 1,
      timeoutMs: (settings.timeout_seconds ?? 15) * 1_000,
      status: row?.status ?? null,
      deletedAt: row === undefined ? (deletedAt ?? 0) : null,
    };
  });
}

interface Settings {
  readonly locations?: readonly string[];
  readonly quorum?: "majority" | number;
  readonly retries?: number;
  readonly recovery?: number;
  readonly timeout_seconds?: number;
}
