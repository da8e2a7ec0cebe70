import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { DAY_MS, dayOf, nameOf, type DayTable } from "#control-plane/core/database/partitions/days.ts";

/** Waiting for a lock blocks new rows, so it ends soon, and the next round tries again. Milliseconds. */
const LOCK_TIMEOUT_MS = 1_000;
/** Rows that were written while their partition was missing are moved in one transaction. Milliseconds. */
const MOVE_TIMEOUT_MS = 600_000;

/** Takes the lock on changes of partitions until the transaction ends. Returns false if another replica has it. */
export async function lockPartitions(tx: Transaction, { lock }: DayTable): Promise<boolean> {
  const [row] = await tx<{ got: boolean }[]>`select pg_try_advisory_xact_lock(${lock}::bigint) as got`;
  return row?.got ?? false;
}

/** The partitions of a table: beginnings of their days in Unix milliseconds. */
export interface Partitions {
  readonly attached: readonly number[];
  /** Partitions of dropped days whose table still exists. */
  readonly detached: readonly number[];
}

/** Lists the partitions of a table, without the default one. */
export async function listPartitions(sql: Queryable, table: DayTable): Promise<Partitions> {
  const rows = await sql<{ name: string; isAttached: boolean }[]>`
    select relname as name, relispartition as "isAttached" from pg_class
    where relnamespace = (select relnamespace from pg_class where oid = ${table.name}::regclass)
      and relkind = 'r' and starts_with(relname, ${`${table.name}_`})`;
  const daysOf = (attached: boolean) =>
    rows.flatMap(({ name, isAttached }) => (isAttached === attached ? (dayOf(table, name) ?? []) : []));
  return { attached: daysOf(true), detached: daysOf(false) };
}

/** Lists up to `limit` days with rows in the default partition, from `first` to `last`, in Unix milliseconds. */
export async function listWaitingDays(
  sql: Sql,
  { name, column }: DayTable,
  { first, last }: { readonly first: Date; readonly last: Date },
  limit: number,
): Promise<readonly number[]> {
  const at = sql(column);
  const rows = await sql<{ day: Date }[]>`
    select distinct date_bin('1 day', ${at}, timestamptz '2000-01-01 00:00:00+00') as day
    from ${sql(`${name}_default`)} where ${at} >= ${first} and ${at} < ${last} limit ${limit}`;
  return rows.map(({ day }) => day.getTime());
}

/**
 * Creates the partition of a day and moves its rows from the default partition into it. Writers are locked out only at
 * the end, for the rows that arrived in the meantime: ATTACH refuses a day that has rows in the default partition. The
 * whole table is locked before that partition: an insert that waited for the partition alone has already chosen it, and
 * fails (23514) when the day has a partition of its own by then.
 */
export async function createPartition(tx: Transaction, table: DayTable, day: number): Promise<void> {
  const { name, column, storage } = table;
  const partition = nameOf(table, day);
  const [from, to] = [new Date(day).toISOString(), new Date(day + DAY_MS).toISOString()];
  const move = `
    with moved as (
      delete from ${name}_default where ${column} >= '${from}' and ${column} < '${to}' returning *
    ) insert into ${partition} select * from moved`;
  await tx.unsafe(`set local statement_timeout = ${MOVE_TIMEOUT_MS}`);
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const options = storage === undefined ? "" : ` with (${storage})`;
  await tx.unsafe(`create table ${partition} (like ${name} including defaults)${options}`);
  await tx.unsafe(move);
  await tx.unsafe(`lock table ${name} in share row exclusive mode`);
  await tx.unsafe(`lock table only ${name}_default in access exclusive mode`);
  await tx.unsafe(move);
  await tx.unsafe(`alter table ${name} attach partition ${partition} for values from ('${from}') to ('${to}')`);
}

/** Takes the partition of a day out of the table; it is dropped apart, because deleting large files takes long. */
export async function detachPartition(tx: Transaction, table: DayTable, day: number): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await tx.unsafe(`alter table ${table.name} detach partition ${nameOf(table, day)}`);
}

/** Drops the table of a detached partition. */
export async function dropDetached(tx: Transaction, table: DayTable, day: number): Promise<void> {
  await tx.unsafe(`drop table if exists ${nameOf(table, day)}`);
}

/** Deletes up to `limit` rows of the default partition from before `cutoff`. Returns how many. */
export async function deleteOldWaiting(
  sql: Sql,
  { name, column }: DayTable,
  cutoff: Date,
  limit: number,
): Promise<number> {
  const waiting = sql(`${name}_default`);
  const { count } = await sql`
    delete from ${waiting} where ctid = any(array(
      select ctid from ${waiting} where ${sql(column)} < ${cutoff} limit ${limit}
    ))`;
  return count;
}
