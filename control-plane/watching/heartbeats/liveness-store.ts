import type { Sql } from "#control-plane/core/database/connect.ts";

/**
 * Notes that the service can receive pings now. If nothing was noted for longer than `longestGapMs`, the time since is
 * an outage if a heartbeat is active; null: it is none in any case. Replicas that note at the same time wait for each other, so an outage is stored once.
 */
export async function noteLiveness(sql: Sql, now: Date, longestGapMs: number | null): Promise<void> {
  await sql`
    with seen as materialized (
      select at from service_liveness for update
    ), outage as (
      insert into service_outages (started_at, ended_at)
      select at, ${now} from seen where at < ${now}::timestamptz - ${longestGapMs}::integer * interval '1 millisecond'
        and exists (select from heartbeats as h join monitors as m on m.id = h.monitor_id where m.is_active)
      on conflict (started_at) do nothing
    )
    -- Reads "seen" before it changes the row: afterwards the row could not be locked any more in this statement, and no
    -- outage would be found.
    insert into service_liveness as l (at) select greatest(${now}::timestamptz, max(at)) from seen
    on conflict (id) do update set at = greatest(l.at, excluded.at)`;
}

/** Deletes outages that ended before a time: every deadline that fell into one has been moved. */
export async function deleteOutages(sql: Sql, before: Date): Promise<void> {
  await sql`delete from service_outages where ended_at < ${before}`;
}
