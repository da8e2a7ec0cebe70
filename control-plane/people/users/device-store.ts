import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";

/** Devices of a user that are kept; the one that was not used for longest goes first. */
const MOST_DEVICES = 20;

/** Gives a session a device unless it has one. Returns the id of its device; null if the session has ended. */
export async function giveDevice(
  tx: Transaction,
  { id, userId }: { readonly id: number; readonly userId: number },
  now: Date,
): Promise<number | null> {
  // One at a time of a user: each sees the devices of the one before.
  await tx`select from users where id = ${userId} for no key update`;
  const [row] = await tx<{ deviceId: number }[]>`
    with given as (
      insert into devices (user_id, created_at, used_at)
      select user_id, ${now}, ${now} from sessions where id = ${id} and device_id is null
      returning id
    ), kept as (
      update sessions set device_id = given.id from given where sessions.id = ${id}
      returning device_id as "deviceId"
    )
    select "deviceId" from kept
    union all select device_id from sessions where id = ${id} and device_id is not null`;
  await tx`
    delete from devices where id in (
      select id from devices where user_id = ${userId} order by used_at desc, id desc offset ${MOST_DEVICES}
    )`;
  return row?.deviceId ?? null;
}

/** Reports whether a user has a device that was used after `usedAfter`. */
export async function hasDevice(
  sql: Queryable,
  { id, userId }: { readonly id: number; readonly userId: number },
  usedAfter: Date,
): Promise<boolean> {
  const rows = await sql`select from devices where id = ${id} and user_id = ${userId} and used_at > ${usedAfter}`;
  return rows.length > 0;
}

/** Notes that a session begins on a device. Returns false if the user has no such device that was used after `usedAfter`. */
export async function useDevice(
  sql: Queryable,
  { id, userId }: { readonly id: number; readonly userId: number },
  { now, usedAfter }: { readonly now: Date; readonly usedAfter: Date },
): Promise<boolean> {
  const { count } = await sql`
    update devices set used_at = ${now} where id = ${id} and user_id = ${userId} and used_at > ${usedAfter}`;
  return count > 0;
}

/** Deletes the devices of a user, but for one; `exceptId` null: all. */
export async function deleteDevices(sql: Queryable, userId: number, exceptId: number | null): Promise<void> {
  // Ids are positive: -1 is none.
  await sql`delete from devices where user_id = ${userId} and id <> ${exceptId ?? -1}::bigint`;
}

/** Deletes up to `limit` devices that were not used after `usedAfter`. Returns how many. */
export async function deleteOldDevices(sql: Queryable, usedAfter: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from devices where id in (
      select id from devices where used_at <= ${usedAfter} limit ${limit} for update skip locked
    )`;
  return count;
}
