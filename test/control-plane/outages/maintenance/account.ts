import { pino } from "pino";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import {
  createMaintenance,
  type Maintenance,
  type MonitorsOf,
} from "#control-plane/outages/maintenance/maintenance.ts";
import type { Given } from "#control-plane/outages/maintenance/resource.ts";
import type { MaintenanceWindow } from "#control-plane/outages/maintenance/window.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { liveTimers } from "#test/support/timers.ts";

/** Says that ids below 100 are monitors of every account. */
export const monitorsBelow100: MonitorsOf = (_sql, _accountId, ids) =>
  Promise.resolve(new Set(ids.filter((id) => id < 100)));

/** Maintenance on a separate database, with a clock that the test moves. */
export interface TestMaintenance {
  readonly sql: Sql;
  readonly maintenance: Maintenance;
  readonly clock: ReturnType<typeof createManualClock>;
  /** Creates an account. */
  account(): Promise<number>;
  create(accountId: number, given: Given): Promise<MaintenanceWindow>;
  change(accountId: number, id: number, given: Given): Promise<MaintenanceWindow>;
  remove(accountId: number, id: number): Promise<boolean>;
  /** What the windows of the account cover, as "from/to" with the minute; to check the stored past. */
  covered(accountId: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Opens maintenance. Call `close` in afterAll. */
export async function openTestMaintenance(start: string): Promise<TestMaintenance> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 6, statementTimeoutMs: 10_000 });
  const clock = createManualClock(new Date(start));
  const maintenance = createMaintenance({
    timers: liveTimers,
    sql,
    clock,
    log: pino({ level: "silent" }),
    monitorsOf: monitorsBelow100,
  });

  function requireWritten(written: Awaited<ReturnType<Maintenance["create"]>>): MaintenanceWindow {
    if (!written.ok) throw new Error(JSON.stringify(written));
    return written.value.window;
  }

  return {
    sql,
    maintenance,
    clock,
    async account() {
      const [row] = await sql<{ id: number }[]>`
        insert into accounts (plan, created_at, updated_at) values ('pro', now(), now()) returning id`;
      return row?.id ?? 0;
    },
    create: async (accountId, given) =>
      requireWritten(await transact(sql, (tx) => maintenance.create(tx, accountId, given))),
    change: async (accountId, id, given) =>
      requireWritten(await transact(sql, (tx) => maintenance.change(tx, accountId, id, given))),
    remove: (accountId, id) => transact(sql, async (tx) => (await maintenance.remove(tx, accountId, id)) !== null),
    async covered(accountId) {
      const rows = await sql<{ from: Date; to: Date }[]>`
        select covers_from as "from", ends_at as "to" from maintenance_occurrences
        where account_id = ${accountId} order by covers_from, ends_at`;
      return rows.map(({ from, to }) => `${from.toISOString().slice(0, 16)}/${to.toISOString().slice(0, 16)}`);
    },
    async close() {
      maintenance.close();
      await sql.end();
      await database.drop();
    },
  };
}
