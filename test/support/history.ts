import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { nameOf } from "#control-plane/core/database/partitions/days.ts";
import { listPartitions } from "#control-plane/core/database/partitions/store.ts";
import { CHECKS } from "#control-plane/outages/history/history.ts";
import { rollUpDays } from "#control-plane/outages/history/roll-up/days.ts";
import { rollUpHours, type Step } from "#control-plane/outages/history/roll-up/hours.ts";
import { recomputeLate } from "#control-plane/outages/history/roll-up/late.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

/** A check to insert; missing fields are those of a successful check. */
export interface TestCheck {
  readonly monitorId: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly location?: string;
  /** 1 up, 2 down, 3 unknown, 4 degraded. */
  readonly status?: number;
  readonly responseMs?: number | null;
  readonly isRecheck?: boolean;
  readonly fault?: string;
}

/** A database with an account, for tests of the history. */
export interface HistoryDatabase {
  readonly url: string;
  readonly sql: Sql;
  /** Inserts a monitor. */
  addMonitor(createdAt: number, tags?: readonly string[]): Promise<HistoryMonitor>;
  addChecks(checks: readonly TestCheck[]): Promise<void>;
  /** Runs every step of the roll-ups that is due. */
  rollUp(
    now: number,
    options?: { readonly monitors?: number; readonly maintenance?: MaintenanceBetween },
  ): Promise<void>;
  /** Deletes every row and partition of the history, and all monitors. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** The port of a service without maintenance. */
export const NO_MAINTENANCE: MaintenanceBetween = () => Promise.resolve(new Map());

/** Creates the database. Call `close` in afterAll. */
export async function createHistoryDatabase(): Promise<HistoryDatabase> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 30_000 });
  const [account] = await sql<{ id: number }[]>`
    insert into accounts (plan, created_at, updated_at) values ('captain', now(), now()) returning id`;
  const accountId = account?.id ?? 0;
  return {
    url: database.url,
    sql,
    async addMonitor(createdAt, tags = []) {
      const created = new Date(createdAt);
      const [row] = await sql<{ id: number }[]>`
        insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
          updated_at)
        values (${accountId}, 'shop', 'https://shop.example', 'http', 1, true, ${[...tags]}::text[], '{}', ${created},
          ${created})
        returning id`;
      return { id: row?.id ?? 0, accountId, tags, createdAt: created };
    },
    async addChecks(checks) {
      await sql`
        insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck,
          missed, fault)
        select monitor_id, checked_at, location, status, response_ms, null, 0, recheck = 1, 0, fault from unnest(
          ${checks.map(({ monitorId }) => monitorId)}::bigint[],
          ${checks.map(({ at }) => new Date(at).toISOString())}::timestamptz[],
          ${checks.map(({ location = "eu" }) => location)}::text[],
          ${checks.map(({ status = 1 }) => status)}::smallint[],
          ${checks.map(({ responseMs = 50 }) => responseMs)}::integer[],
          ${checks.map(({ isRecheck = false }) => (isRecheck ? 1 : 0))}::integer[],
          ${checks.map(({ fault = null }: { fault?: string | null }) => fault)}::text[]
        ) as given (monitor_id, checked_at, location, status, response_ms, recheck, fault)`;
    },
    async rollUp(now, { monitors = 100, maintenance = NO_MAINTENANCE } = {}) {
      await repeat(() => rollUpHours(sql, new Date(now), monitors));
      await repeat(() => recomputeLate(sql, maintenance, 100));
      await repeat(() => rollUpDays(sql, maintenance, new Date(now), monitors));
    },
    async clear() {
      await sql`truncate checks, monitor_status_changes, check_hours, check_days, monitor_days, late_hours`;
      await sql`delete from monitors`;
      await sql`delete from deleted_monitors`;
      await sql`update history_progress set open_from = null, next_monitor = 0`;
      const { attached, detached } = await listPartitions(sql, CHECKS);
      for (const day of [...attached, ...detached]) await sql`drop table ${sql(nameOf(CHECKS, day))}`;
    },
    async close() {
      await sql.end();
      await database.drop();
    },
  };
}

/** Runs steps until one is idle. */
export async function repeat(step: () => Promise<Step>): Promise<void> {
  while ((await step()) === "moved");
}
