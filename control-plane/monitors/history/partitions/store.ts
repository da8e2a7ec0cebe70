import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import { DAY_MS } from "#control-plane/monitors/history/period.ts";
import { dayOf, nameOf } from "#control-plane/monitors/history/partitions/partitions.ts";

/** Waiting for a lock blocks new checks, so it ends soon, and the next round tries again. Milliseconds. */
const LOCK_TIMEOUT_MS = 1_000;
/** Checks that were written while their partition was missing are moved in one transaction. Milliseconds. */
const MOVE_TIMEOUT_MS = 600_000;
/** Number of an advisory lock: one replica at a time changes partitions. */
const LOCK = 8_026_134_478_127;

/** Takes the lock on changes of partitions until the transaction ends. Returns false if another replica has it. */
export async function lockPartitions(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ got: boolean }[]>`select pg_try_advisory_xact_lock(${LOCK}::bigint) as got`;
  return row?.got ?? false;
}

/** The partitions of checks: beginnings of their days in Unix milliseconds. */
export interface Partitions {
  readonly attached: readonly number[];
  /** Partitions of dropped days whose table still exists. */
  readonly detached: readonly number[];
}

/** Lists the partitions of checks, without the default one. */
export async function listPartitions(sql: Queryable): Promise<Partitions> {
  const rows = await sql<{ name: string; isAttached: boolean }[]>`
    select relname as name, relispartition as "isAttached" from pg_class
    where relnamespace = (select relnamespace from pg_class where oid = 'checks'::regclass)
      and relkind = 'r' and relname like 'checks\\_%'`;
  const daysOf = (attached: boolean) =>
    rows.flatMap(({ name, isAttached }) => (isAttached === attached ? (dayOf(name) ?? []) : []));
  return { attached: daysOf(true), detached: daysOf(false) };
}

/** Lists up to `limit` days with checks in the default partition, from `first` to `last`, in Unix milliseconds. */
export async function listWaitingDays(sql: Sql, first: Date, last: Date, limit: number): Promise<readonly number[]> {
  const rows = await sql<{ day: Date }[]>`
    select distinct date_bin('1 day', checked_at, timestamptz '2000-01-01 00:00:00+00') as day
    from checks_default where checked_at >= ${first} and checked_at < ${last} limit ${limit}`;
  return rows.map(({ day }) => day.getTime());
}

/**
 * Creates the partition of a day and moves its checks from the default partition into it. Writers are locked out only
 * at the end, for the rows that arrived in the meantime: ATTACH refuses a day that has rows in the default partition. The
 * whole table is locked before that partition: an insert that waited for the partition alone has already chosen it, and
 * fails (23514) when the day has a partition of its own by then.
 */
export async function createPartition(tx: Transaction, day: number): Promise<void> {
  const name = nameOf(day);
  const [from, to] = [new Date(day).toISOString(), new Date(day + DAY_MS).toISOString()];
  const move = `
    with moved as (
      delete from checks_default where checked_at >= '${from}' and checked_at < '${to}' returning *
    ) insert into ${name} select * from moved`;
  await tx.unsafe(`set local statement_timeout = ${MOVE_TIMEOUT_MS}`);
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  // A day is written once and read as a whole when it is an hour old. A vacuum after every fifth of its rows would only
  // write its pages again.
  await tx.unsafe(`
    create table ${name} (like checks including defaults)
    with (autovacuum_vacuum_insert_threshold = -1)`);
  await tx.unsafe(move);
  await tx.unsafe("lock table checks in share row exclusive mode");
  await tx.unsafe("lock table only checks_default in access exclusive mode");
  await tx.unsafe(move);
  await tx.unsafe(`alter table checks attach partition ${name} for values from ('${from}') to ('${to}')`);
}

/** Takes the partition of a day out of the table; it is dropped apart, because deleting large files takes long. */
export async function detachPartition(tx: Transaction, day: number): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await tx.unsafe(`alter table checks detach partition ${nameOf(day)}`);
}

/** Drops the table of a detached partition. */
export async function dropDetached(tx: Transaction, day: number): Promise<void> {
  await tx.unsafe(`drop table if exists ${nameOf(day)}`);
}

/** Deletes up to `limit` checks of the default partition from before `cutoff`. Returns how many. */
export async function deleteOldWaiting(sql: Sql, cutoff: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from checks_default where ctid = any(array(
      select ctid from checks_default where checked_at < ${cutoff} limit ${limit}
    ))`;
  return count;
}
