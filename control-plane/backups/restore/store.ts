import type { Writable } from "node:stream";
import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { dayOf } from "#control-plane/core/database/partitions/days.ts";
import { createDay } from "#control-plane/core/database/partitions/upkeep.ts";
import { BACKED_UP, DAY_TABLES, FREE_SEQUENCE, FUNCTIONS, LEFT_OUT } from "#control-plane/backups/tables.ts";
import { quote, setForm, type Table } from "#control-plane/backups/tables-store.ts";

/** Drops everything that Vantage has in the database. It is back if the transaction does not commit. */
export async function dropAll(tx: Transaction): Promise<void> {
  const rows = await tx<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`;
  const ours = new Set([...BACKED_UP, ...Object.keys(LEFT_OUT)]);
  // Days that were taken out of their table, and not dropped yet.
  const isDay = (name: string): boolean => DAY_TABLES.some((table) => dayOf(table, name) !== null);
  const names = rows.map(({ name }) => name).filter((name) => ours.has(name) || isDay(name));
  await tx.unsafe("set local lock_timeout = '10s'");
  if (names.length > 0) await tx.unsafe(`drop table ${quote(...names)} cascade`);
  await tx.unsafe(`drop sequence if exists ${FREE_SEQUENCE}`);
  await tx.unsafe(`drop function if exists ${FUNCTIONS.join(", ")}`);
  // The queues of pg-boss, which makes them again. What their jobs were about is settled.
  await tx.unsafe("drop schema if exists pgboss cascade");
  await setForm(tx);
}

/** A foreign key of a table. */
interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * Empties tables, runs `fill`, and checks their foreign keys after it: rows can come in any order, and no check of a row waits
 * in memory.
 */
export async function withoutForeignKeys(
  tx: Transaction,
  tables: readonly Table[],
  fill: () => Promise<void>,
): Promise<void> {
  const names = tables.map(({ name }) => name);
  await tx.unsafe(`truncate ${quote(...names)} cascade`);
  const keys = await tx<ForeignKey[]>`
    select t.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint as k join pg_class as t on t.oid = k.conrelid
    where k.contype = 'f' and k.conparentid = 0 and t.relnamespace = current_schema()::regnamespace
      and t.relname = any(${names}::text[])
    order by k.oid`;
  for (const { table, name } of keys) await tx.unsafe(`alter table ${quote(table)} drop constraint ${quote(name)}`);
  await fill();
  for (const { table, name, definition } of keys) {
    await tx.unsafe(`alter table ${quote(table)} add constraint ${quote(name)} ${definition}`);
  }
}

/** Creates the partitions of days, given in Unix milliseconds. */
export async function createDays(tx: Transaction, name: string, days: readonly number[]): Promise<void> {
  const table = DAY_TABLES.find((one) => one.name === name);
  if (table === undefined) return;
  for (const day of days) await createDay(tx, table, day);
  await tx.unsafe("set local lock_timeout = 0");
  await setForm(tx);
}

/** Opens a table for rows in the text format of COPY. */
export function writeRows(tx: Transaction, { name, columns }: Table): Promise<Writable> {
  return tx.unsafe(`copy ${quote(name)} (${quote(...columns)}) from stdin`).writable();
}

/** Sets sequences of our tables to their newest numbers. */
export async function setSequences(tx: Transaction, values: Readonly<Record<string, number>>): Promise<void> {
  await tx`
    select setval(c.oid::regclass, given.value::bigint)
    from jsonb_each_text(${JSON.stringify(values)}::text::jsonb) as given (name, value)
    join pg_class as c on c.relname = given.name and c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace
    left join pg_depend as d on d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    left join pg_class as t on t.oid = d.refobjid
    where given.value::bigint > 0 and (t.relname = any(${[...BACKED_UP]}::text[]) or c.relname = ${FREE_SEQUENCE})`;
}

/** Gathers the statistics that the planner needs at once. */
export async function analyzeTables(tx: Sql | Transaction): Promise<void> {
  await tx.unsafe(`analyze ${quote(...BACKED_UP)}`);
}
