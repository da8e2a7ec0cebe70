import type { Db } from "pg-boss";
import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import type { QueueCount } from "#control-plane/jobs/metrics.ts";

/** The channel on which a queue's name says that there is something to fetch. */
export const JOB_CHANNEL = "vantage_jobs";

/** The schema that is pg-boss's own. */
export const BOSS_SCHEMA = "pgboss";

/** A transaction of ours as pg-boss's database, so that a job is sent if and only if that commits. */
export function inTransaction(tx: Transaction): Db {
  return {
    // Its parameters are text that the statement casts itself: nothing of postgres.js's own JSON types comes near them.
    executeSql: async (text, values) => ({ rows: await tx.unsafe(text, values as string[]) }),
  };
}

/** Wakes every replica's worker of a queue when the transaction commits. */
export async function notifyQueue(sql: Queryable, queue: string): Promise<void> {
  await sql`select pg_notify(${JOB_CHANNEL}, ${queue})`;
}

/** Every queue's jobs by state; what has ended is counted until its rows are removed. */
export async function countJobs(sql: Sql): Promise<readonly QueueCount[]> {
  return sql<QueueCount[]>`
    select name as queue, state::text as state, count(*) as jobs, min(created_on) as "oldestAt"
    from pgboss.job where name not like '\\_\\_%' group by 1, 2 order by 1, 2`;
}
