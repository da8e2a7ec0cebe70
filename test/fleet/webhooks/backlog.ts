import type { Sql } from "#control-plane/core/database/connect.ts";

/** Inserts deliveries that were due in the last hour and were never attempted, as a long outage leaves them. */
export async function insertBacklog(sql: Sql, count: number): Promise<void> {
  await sql`
    with old as materialized (
      select d.id, d.account_id, d.event_id, d.receiver_id, row_number() over (order by d.id) - 1 as place,
        count(*) over () as total
      from deliveries as d join webhooks as w on w.id = d.receiver_id and w.is_active and w.name like 'sound-%'
      where d.channel = 'webhook' and d.replay_of is null
    )
    insert into deliveries (account_id, event_id, channel, receiver_id, due_at, released_at, is_ready, created_at, replay_of)
    select account_id, event_id, 'webhook', receiver_id, at, at, true, at, id
    from generate_series(0, ${count - 1}::integer) as n join old on old.place = n % old.total
    cross join lateral (select now() - random() * interval '1 hour' as at where n >= 0) as due`;
}
