import type { Queryable, Sql, SqlFragment, Transaction } from "#control-plane/core/database/connect.ts";

/** The condition of pictures that no monitor refers to: all others can be deleted. `p` is the picture. */
function unused(sql: Queryable): SqlFragment {
  return sql`not exists (
    select from visual_states as v where v.monitor_id = p.monitor_id
      and p.id in (v.accepted_id, v.latest_id, v.difference_id, v.announced_id, v.announced_difference_id)
  )`;
}

/** Deletes a monitor's unused pictures beyond the newest `most` pictures. Its row in visual_states must be locked. */
export async function deleteSurplus(tx: Transaction, monitorId: number, most: number): Promise<void> {
  await tx`
    delete from pictures as p where p.monitor_id = ${monitorId} and ${unused(tx)} and p.id not in (
      select id from pictures where monitor_id = ${monitorId} order by taken_at desc, id desc limit ${most}
    )`;
}

/** Returns the octets of all pictures of an account. */
export async function sumAccount(sql: Queryable, accountId: number): Promise<number> {
  const [row] = await sql<{ size: number }[]>`
    select coalesce(sum(p.size), 0)::bigint as size
    from pictures as p join monitors as m on m.id = p.monitor_id where m.account_id = ${accountId}`;
  return row?.size ?? 0;
}

/** Returns the octets of all pictures. */
export async function sumAll(sql: Queryable): Promise<number> {
  const [row] = await sql<{ size: number }[]>`select coalesce(sum(size), 0)::bigint as size from pictures`;
  return row?.size ?? 0;
}

/**
 * Deletes unused pictures, the oldest first, until at least `octets` are free or none is left; of one account, or of all
 * (null). Pictures that a transaction uses are left out. Returns the octets that were deleted.
 */
export async function deleteOldest(sql: Queryable, accountId: number | null, octets: number): Promise<number> {
  const [row] = await sql<{ size: number }[]>`
    with candidates as (
      select p.id, p.size, p.taken_at from pictures as p
      where ${unused(sql)} and (${accountId}::bigint is null
        or p.monitor_id in (select id from monitors where account_id = ${accountId}::bigint))
      order by p.taken_at, p.id limit 1000
    ), chosen as (
      select id from (
        select id, sum(size) over (order by taken_at, id) - size as before from candidates
      ) as summed where before < ${octets}
    ), locked as (
      select p.id from pictures as p where p.id in (select id from chosen) for update skip locked
    ), deleted as (
      delete from pictures as p where p.id in (select id from locked) and ${unused(sql)} returning p.size
    )
    select coalesce(sum(size), 0)::bigint as size from deleted`;
  return row?.size ?? 0;
}

/** Deletes unused pictures from before a time. Returns the number of them. */
export async function deleteBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from pictures where id in (
      select p.id from pictures as p where p.taken_at < ${before} and ${unused(sql)}
      order by p.taken_at limit ${limit} for update skip locked
    )`;
  return count;
}
