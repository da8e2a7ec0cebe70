import type { Sql } from "#control-plane/core/database/connect.ts";

/**
 * Returns the replicas that hold claims and are not among the live ones. A claim leaves due_at as it is, so that the
 * search reads what is due, by the index, and nothing else.
 */
export async function findGoneClaimants(sql: Sql, now: Date): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct s.claimed_by as id from monitor_slots as s
    where s.due_at <= ${now} and s.lease <> 0 and s.lease_ends_at > ${now} and s.claimed_by is not null
      and not exists (select from replicas as r where r.id = s.claimed_by)`;
  return rows.map(({ id }) => id);
}

/** Ends the claims of replicas, so that others can claim their schedule entries. Returns how many there were. */
export async function releaseClaimsOf(sql: Sql, replicaIds: readonly string[], now: Date): Promise<number> {
  const released = await sql`
    with held as (
      select monitor_id, location from monitor_slots
      where due_at <= ${now} and lease <> 0 and claimed_by = any(${[...replicaIds]}::text[])
      order by monitor_id, location for update skip locked
    )
    update monitor_slots as s set lease = 0
    from held where s.monitor_id = held.monitor_id and s.location = held.location`;
  return released.count;
}
