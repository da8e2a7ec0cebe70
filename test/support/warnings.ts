import { pino } from "pino";
import { Registry } from "prom-client";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { countFailing } from "#control-plane/notify/deliveries/upkeep-store.ts";
import { readHello } from "#control-plane/checks/dispatch/hello.ts";
import { createRoster } from "#control-plane/checks/dispatch/roster.ts";
import { createProbeListing } from "#control-plane/checks/probes/listing.ts";
import { toStoredHello } from "#control-plane/checks/probes/presence/stored-hello.ts";
import { openWarnings, type Warnings } from "#control-plane/people/warnings/warnings.ts";
import { createManualClock } from "#test/support/clock.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { liveTimers } from "#test/support/timers.ts";

/** Monitor to insert; missing fields are those of an hourly one that is up. */
interface TestMonitor {
  readonly locations: readonly string[];
  readonly accountId?: number;
  readonly settings?: object;
  /** JSON of MonitorState. */
  readonly state?: object;
  readonly status?: "up" | "unknown";
  /** When its schedule entries are due. Default: in an hour. */
  readonly dueAt?: Date;
  /** When its newest check at each location began. */
  readonly checkedAt?: Date;
}

/** A database with agents and monitors, and a clock that moves by hand. */
export interface WarningsDatabase {
  readonly sql: Sql;
  readonly clock: ReturnType<typeof createManualClock>;
  addAccount(): Promise<number>;
  /** Inserts an enrolled agent that is attached to a live replica, or to none. */
  addAgent(
    region: string,
    options?: { readonly accountId?: number; readonly isOnline?: boolean; readonly version?: string },
  ): Promise<void>;
  setOnline(region: string, isOnline: boolean): Promise<void>;
  addMonitor(monitor: TestMonitor): Promise<number>;
  /** Opens the warnings of a replica. `lines` are those of its log. */
  open(options?: { readonly isMailConfigured?: boolean }): Warnings & {
    readonly lines: readonly { readonly level: string; readonly code: string; readonly msg: string }[];
    readonly registry: Registry;
  };
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Creates the database. Call `close` in afterAll. */
export async function createWarningsDatabase(): Promise<WarningsDatabase> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 6, statementTimeoutMs: 30_000 });
  const clock = createManualClock(new Date("2026-03-01T12:30:00Z"));
  const opened: Warnings[] = [];
  const addAccount = async (): Promise<number> => {
    const [row] = await sql<{ id: number }[]>`
      insert into accounts (plan, created_at, updated_at) values ('captain', now(), now()) returning id`;
    return row?.id ?? 0;
  };
  const attach = (region: string) => sql`
    insert into attachments (probe_id, replica_id, draining, attached_at)
    select id, 'replica', false, now() from probes where region = ${region} on conflict do nothing`;
  let owner = await addAccount();
  // It never dies, whatever the clock says.
  await sql`insert into replicas (id, address, started_at, seen_at) values ('replica', '', now(), 'infinity')`;
  return {
    sql,
    clock,
    addAccount,
    async addAgent(region, { accountId, isOnline = true, version } = {}) {
      const read = readHello(helloOf(region, version === undefined ? {} : { version }));
      const hello = read.ok ? toStoredHello(read.agent) : "";
      await sql`
        insert into probes (id, region, account_id, certificate_serial, certificate_expires_at, enrolled_at, enrolled_by,
          hello)
        values ('agt-' || gen_random_uuid(), ${region}, ${accountId ?? null}, '', now(), now(),
          sha256(gen_random_uuid()::text::bytea), ${hello}::text::jsonb)`;
      if (isOnline) await attach(region);
    },
    async setOnline(region, isOnline) {
      if (isOnline) await attach(region);
      else await sql`delete from attachments where probe_id in (select id from probes where region = ${region})`;
    },
    async addMonitor({ locations, accountId = owner, settings = {}, state = {}, status = "up", dueAt, checkedAt }) {
      const long = new Date(clock.now().getTime() - 86_400_000);
      const text = JSON.stringify({ locations, timeout_seconds: 15, notify_email: false, ...settings });
      const due = dueAt ?? new Date(clock.now().getTime() + 3_600_000);
      const [row] = await sql<{ id: number }[]>`
        insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
          updated_at)
        values (${accountId}, 'shop', 'https://shop.example', 'http', 1, true, '{}', ${text}, ${long}, ${long})
        returning id`;
      const id = row?.id ?? 0;
      await sql`
        insert into monitor_states (monitor_id, status, state, visit_at)
          values (${id}, ${status}, ${JSON.stringify(state)}, null)`;
      await sql`
        insert into monitor_slots (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds,
          planned_at, due_at, checked_at)
        select ${id}, location, ${accountId}, 60, 0, 15, ${due}, ${due}, ${checkedAt ?? null}
        from unnest(${[...locations]}::text[]) as location`;
      return id;
    },
    open({ isMailConfigured = true } = {}) {
      const lines: { level: string; code: string; msg: string }[] = [];
      const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[number]);
      const log = pino({ level: "info", formatters: { level: (level) => ({ level }) } }, { write });
      const registry = new Registry();
      const probes = createProbeListing({ sql, clock, roster: createRoster(clock), replicaId: "this" });
      const warnings = openWarnings({
        timers: liveTimers,
        sql,
        clock,
        log,
        registry,
        probes,
        isMailConfigured,
        version: "0.1.0",
        baseUrl: "https://vantage.example",
        deliveries: { countFailing },
        backups: { findTrouble: () => Promise.resolve(null) },
      });
      opened.push(warnings);
      return { ...warnings, lines, registry };
    },
    async clear() {
      await Promise.all(opened.splice(0).map((warnings) => warnings.stop()));
      await sql`truncate warnings, probes, attachments, checks, monitors, failing_receivers cascade`;
      await sql`delete from accounts`;
      await sql`update history_progress set open_from = null`;
      owner = await addAccount();
    },
    async close() {
      await Promise.all(opened.map((warnings) => warnings.stop()));
      await sql.end();
      await database.drop();
    },
  };
}
