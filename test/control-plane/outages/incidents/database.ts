import { connect, type Sql, type Transaction } from "#control-plane/core/database/connect.ts";
import type { FailingLocation, Incident, IncidentMonitor } from "#control-plane/outages/incidents/incident.ts";
import { openOutages } from "#control-plane/outages/incidents/outages/open.ts";
import { resolveOutages } from "#control-plane/outages/incidents/outages/resolve.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

/** A test database with a client. */
interface IncidentDatabase {
  readonly sql: Sql;
  readonly url: string;
  createAccount(): Promise<number>;
  /** Creates a monitor with two locations. */
  createMonitor(accountId: number, name?: string): Promise<IncidentMonitor>;
  close(): Promise<void>;
}

/** Time of the first failing check in tests. */
export const STARTED = new Date("2026-03-01T12:00:00Z");

/** Returns a moment some seconds after STARTED. */
export function after(seconds: number): Date {
  return new Date(STARTED.getTime() + seconds * 1_000);
}

/** Creates failing locations whose connection is refused. */
export function refusedAt(...locations: readonly string[]): readonly FailingLocation[] {
  const fault = {
    stage: "connect",
    source: "target",
    reason: "refused",
    message: "203.0.113.9:443: no service",
  } as const;
  return locations.map((location) => ({ location, fault }));
}

/** Opens a test database. Call `close` in afterAll. */
export async function openIncidentDatabase(): Promise<IncidentDatabase> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 10_000 });
  return {
    sql,
    url: database.url,
    async createAccount() {
      const [row] = await sql<{ id: number }[]>`
        insert into accounts (plan, created_at, updated_at) values ('pro', ${STARTED}, ${STARTED}) returning id`;
      return row?.id ?? 0;
    },
    createMonitor: (accountId, name = "Shop") => insertMonitor(sql, accountId, name),
    async close() {
      await sql.end();
      await database.drop();
    },
  };
}

/** Inserts a monitor without a schedule. */
export async function insertMonitor(sql: Sql, accountId: number, name: string): Promise<IncidentMonitor> {
  const settings = { timeout_seconds: 15, port: null, locations: ["eu-west", "us-east"] };
  const url = "https://shop.example.com/";
  const [row] = await sql<{ id: number }[]>`
    insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
      updated_at)
    values (${accountId}, ${name}, ${url}, 'http', 1, true, '{}', ${JSON.stringify(settings)}, ${STARTED}, ${STARTED})
    returning id`;
  return { id: row?.id ?? 0, accountId, name, url, checkType: "http", settings };
}

/** Opens the incident of one outage. */
export async function openOutage(
  tx: Transaction,
  outage: Parameters<typeof openOutages>[1][number],
): Promise<{ readonly incident: Incident; readonly isNew: boolean }> {
  const [opened] = await openOutages(tx, [outage]);
  if (opened === undefined) throw new Error("no outage");
  return opened;
}

/** Ends the incident of one outage; null if it has ended already. */
export async function resolveOutage(
  tx: Transaction,
  incidentId: number,
  times: { readonly recoveredAt: Date; readonly confirmedAt: Date; readonly good?: readonly string[] },
): Promise<Incident | null> {
  const [resolved = null] = await resolveOutages(tx, [{ incidentId, good: [], ...times }]);
  return resolved;
}
