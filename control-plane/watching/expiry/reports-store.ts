import type { Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";

/** Fingerprint that a check of a monitor has seen. */
export interface Report {
  readonly monitorId: number;
  readonly fingerprint: string;
}

/**
 * Plans a look at certificates that checks found changed: at once, or `newMs` after the last look if another change was
 * found within that time. One that its monitors have seen before can be another server behind a balancer, and waits until
 * `knownMs` after the last look. A target that was never looked at, or whose host does not answer, keeps its time.
 */
export async function planEarlyLooks(
  sql: Sql,
  reports: readonly Report[],
  now: Date,
  { newMs, knownMs }: { readonly newMs: number; readonly knownMs: number },
): Promise<void> {
  await sql`
    with wanted as materialized (
      select t.id, min(case
        when position(r.fingerprint in l.memory) > 0 then t.looked_at + ${knownMs}::float8 * interval '1 millisecond'
        when t.changed_at > ${now}::timestamptz - ${newMs}::float8 * interval '1 millisecond'
          then t.looked_at + ${newMs}::float8 * interval '1 millisecond'
        else ${now}::timestamptz end) as at
      from ${given(sql, reports, { monitorId: "bigint", fingerprint: "text" }, { as: "r" })}
      join expiry_links as l on l.monitor_id = r.monitor_id and l.kind = 'certificate'
      join expiry_targets as t on t.id = l.target_id
      where t.fingerprint <> r.fingerprint and t.looked_at is not null
      group by t.id
    ), locked as materialized (
      select t.id, greatest(w.at, ${now}::timestamptz) as at from expiry_targets as t join wanted as w using (id)
      order by t.id for update of t
    )
    update expiry_targets as t set look_at = least(t.look_at, locked.at), next_at = least(t.next_at, locked.at)
    from locked where t.id = locked.id and t.failures = 0`;
}
