import type { Sql } from "#control-plane/core/database/connect.ts";
import type { RunStatus } from "#control-plane/checks/jobs/durable-run/status.ts";

/** Counts the measurements that have not ended, by status. */
export async function countUnfinished(
  sql: Sql,
): Promise<readonly { readonly status: RunStatus; readonly measurements: number }[]> {
  return sql<{ status: RunStatus; measurements: number }[]>`
    select status, count(*) as measurements from measurements where finished_at is null group by status`;
}
