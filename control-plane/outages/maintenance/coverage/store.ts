import type { Queryable } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { CoveredScope, TaggedMonitor } from "#control-plane/outages/maintenance/coverage/cover.ts";

/** A monitor, and a time at which a window can cover it. */
export interface MonitorAtTime {
  readonly accountId: number;
  readonly monitorId: number;
  readonly tags: readonly string[];
  readonly at: Date;
}

/** Reports for each monitor whether a window of its account covers it at its time. */
export async function readCovered(sql: Queryable, monitors: readonly MonitorAtTime[]): Promise<readonly boolean[]> {
  // Lists of different lengths are no array of PostgreSQL: the tags travel as JSON.
  const rows = await sql<{ covered: boolean }[]>`
    select exists (
      select from maintenance_occurrences as o join maintenance_scopes as s on s.id = o.scope_id
      where o.account_id = given.account_id and o.covers_from <= given.at and o.ends_at > given.at
        and o.covers_from > given.at - interval '30 days'
        and (
          given.monitor_id = any(s.monitor_ids)
          or s.tags && array(select json_array_elements_text(given.tags))
        )
    ) as covered
    from ${given(
      sql,
      monitors,
      { accountId: "bigint", monitorId: "bigint", tags: "json", at: "timestamptz" },
      { ordinality: "ordinal" },
    )}
    order by given.ordinal`;
  return rows.map(({ covered }) => covered);
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
