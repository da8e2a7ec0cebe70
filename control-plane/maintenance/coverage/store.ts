import type { Queryable } from "#control-plane/database/connect.ts";
import type { CoveredScope, TaggedMonitor } from "#control-plane/maintenance/coverage/cover.ts";

/** Reports whether a window of the account covers a monitor at a time. */
export async function isMonitorCovered(
  sql: Queryable,
  accountId: number,
  { id, tags }: TaggedMonitor,
  at: Date,
): Promise<boolean> {
  const [row] = await sql<{ covered: boolean }[]>`
    select exists (
      select from maintenance_occurrences as o join maintenance_scopes as s on s.id = o.scope_id
      where o.account_id = ${accountId} and o.covers_from <= ${at} and o.ends_at > ${at}
        and o.covers_from > ${at}::timestamptz - interval '30 days'
        and (${id} = any(s.monitor_ids) or s.tags && ${[...tags]}::text[])
    ) as covered`;
  return row?.covered ?? false;
}

/** Returns what the windows of an account cover between two times: each scope that concerns one of the monitors. */
export async function readCoveredScopes(
  sql: Queryable,
  accountId: number,
  monitors: readonly TaggedMonitor[],
  from: Date,
  to: Date,
): Promise<readonly CoveredScope[]> {
  const rows = await sql<(Omit<CoveredScope, "spans"> & { starts: Date[]; ends: Date[] })[]>`
    select s.monitor_ids as "monitorIds", s.tags, spans.starts, spans.ends
    from (
      select scope_id, array_agg(covers_from order by covers_from) as starts,
        array_agg(ends_at order by covers_from) as ends
      from maintenance_occurrences
      where account_id = ${accountId} and covers_from < ${to} and ends_at > ${from}
        and covers_from > ${from}::timestamptz - interval '30 days'
      group by scope_id
    ) as spans
    join maintenance_scopes as s on s.id = spans.scope_id
    where s.monitor_ids && ${monitors.map(({ id }) => id)}::bigint[]
      or s.tags && ${[...new Set(monitors.flatMap(({ tags }) => tags))]}::text[]`;
  return rows.map(({ monitorIds, tags, starts, ends }) => ({
    monitorIds,
    tags,
    spans: starts.map((start, index) => ({ from: start.getTime(), to: ends[index]?.getTime() ?? start.getTime() })),
  }));
}
