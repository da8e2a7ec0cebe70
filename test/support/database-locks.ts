import postgres from "postgres";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { until } from "#test/support/until.ts";

async function isLockAwaited(sql: Queryable, statements = 1): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.length >= statements;
}

/** Waits until so many statements in this database wait for locks that other transactions hold. */
export async function untilLockIsAwaited(sql: Queryable, statements = 1): Promise<void> {
  await until(() => isLockAwaited(sql, statements), `${statements} statements that wait for a lock`);
}

/** Waits until this work has ended, or until a statement in this database, which is then its own, waits for a lock. */
export async function untilEndedOrLocked(sql: Queryable, work: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
  };
  work.then(end, end);
  await until(async () => hasEnded || (await isLockAwaited(sql)), "work that ends or waits for a lock");
}

/**
 * Counts the deadlocks in a database. End all its clients before: a session writes what it has counted late, and for
 * certain only when it ends.
 */
export async function countDeadlocks(databaseUrl: string): Promise<number> {
  const sql = postgres(databaseUrl, { max: 1 });
  const isSole = async (): Promise<boolean> => {
    const rows = await sql`
      select from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
    return rows.length === 0;
  };
  await until(isSole, "the end of all other sessions of the database");
  const [row] = await sql<{ deadlocks: string }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`;
  await sql.end();
  return Number(row?.deadlocks);
}
