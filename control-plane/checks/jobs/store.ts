import type { Db } from "pg-boss";
import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import type { QueueCount } from "#control-plane/checks/jobs/metrics.ts";

/** Notification channel. A queue's name is sent on it when the queue has a job to fetch. */
export const JOB_CHANNEL = "vantage_jobs";

/** The database schema of pg-boss. */
export const BOSS_SCHEMA = "pgboss";

/**
 * Adapts a transaction to pg-boss's database interface, so that a job is sent if and only if the transaction commits.
 */
export function toBossDatabase(tx: Transaction): Db {
  return {
    // pg-boss passes text parameters and casts them in the statement, so postgres.js's own JSON types do not apply.
    executeSql: async (text, values) => ({ rows: await tx.unsafe(text, values as string[]) }),
  };
}

/** Wakes every replica's worker of a queue when the transaction commits. */
export async function notifyQueue(sql: Queryable, queue: string): Promise<void> {
  await sql`select pg_notify(${JOB_CHANNEL}, ${queue})`;
}

/** Counts the jobs of every queue by state. Ended jobs count until their rows are deleted. */
export async function countJobs(sql: Sql): Promise<readonly QueueCount[]> {
  return sql<QueueCount[]>`
    select name as queue, state::text as state, count(*) as jobs, min(created_on) as "oldestAt"
    from pgboss.job where name not like '\\_\\_%' group by 1, 2 order by 1, 2`;
}
