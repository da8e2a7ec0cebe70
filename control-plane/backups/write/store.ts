import type { Readable } from "node:stream";
import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { listPartitions } from "#control-plane/core/database/partitions/store.ts";
import { BACKED_UP, DAY_TABLES, FREE_SEQUENCE } from "#control-plane/backups/tables.ts";

/** Settings of a session in which rows have one form, whatever the server's and the role's are, and one order. */
const FORM = `
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local client_encoding = 'UTF8';
  set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'postgres';
  set local timezone = 'UTC';
  set local bytea_output = 'hex';
  set local extra_float_digits = 1;
  set local synchronize_seqscans = off;
  set local max_parallel_workers_per_gather = 0`;

/** Makes rows have one form in this transaction. */
export async function setForm(tx: Transaction): Promise<void> {
  await tx.unsafe(FORM);
}

/**
 * Runs `work` on one snapshot of the database, which no other statement sees or waits for. If it fails, the client is ended:
 * a connection whose rows nobody reads any more takes no other statement.
 */
export async function readSnapshot<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let failure: { readonly error: unknown } | null = null;
  try {
    return (await sql.begin("isolation level repeatable read read only", async (tx) => {
      try {
        await setForm(tx);
        return await work(tx);
      } catch (error) {
        failure = { error };
        void sql.end({ timeout: 0 });
        throw error;
      }
    })) as T;
  } catch (error) {
    throw (failure as { readonly error: unknown } | null)?.error ?? error;
  }
}

/** A table of the database. */
export interface Table {
  readonly name: string;
  /** Those that are stored, in the order of their creation. */
  readonly columns: readonly string[];
}

/** Lists the tables that a backup contains, as far as this database has them. */
export async function listTables(tx: Transaction): Promise<readonly Table[]> {
  const rows = await tx<Table[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and c.relname = any(${[...BACKED_UP]}::text[])
    group by c.relname`;
  const found = new Map(rows.map((row) => [row.name, row]));
  return BACKED_UP.flatMap((name) => found.get(name) ?? []);
}

/** Returns a name or a list of names as part of a statement. */
export function quote(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join(", ");
}

/** Reads the rows of a table in the text format of COPY: one line each. */
export function readRows(tx: Transaction, { name, columns }: Table): Promise<Readable> {
  return tx.unsafe(`copy (select ${quote(...columns)} from ${quote(name)}) to stdout`).readable();
}

/** Lists the days that have a partition, of each table that has any, in Unix milliseconds. */
export async function listDays(tx: Transaction): Promise<ReadonlyMap<string, readonly number[]>> {
  const days = new Map<string, readonly number[]>();
  for (const table of DAY_TABLES) {
    const { attached } = await listPartitions(tx, table);
    days.set(
      table.name,
      attached.toSorted((a, b) => a - b),
    );
  }
  return days;
}

/** Reads the newest number of each sequence of these tables that has given one. It can be newer than the snapshot. */
export async function readSequences(tx: Transaction): Promise<ReadonlyMap<string, number>> {
  const rows = await tx<{ name: string; value: number }[]>`
    select s.sequencename as name, s.last_value as value
    from pg_sequences as s
    join pg_class as c on c.relname = s.sequencename and c.relnamespace = s.schemaname::regnamespace
    left join pg_depend as d on d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    left join pg_class as t on t.oid = d.refobjid
    where s.schemaname = current_schema() and s.last_value is not null
      and (t.relname = any(${[...BACKED_UP]}::text[]) or c.relname = ${FREE_SEQUENCE})
    order by 1`;
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Facts of the database that are in the manifest. */
export interface Origin {
  /** Number of the newest migration. */
  readonly migration: number;
  readonly installation: string | null;
  readonly masterKeyCheck: string | null;
  readonly createdAt: Date;
}

/** Reads the facts of the database. Rejects with code 42P01 if it was never migrated. */
export async function readOrigin(tx: Transaction): Promise<Origin> {
  const [row] = await tx<Origin[]>`
    select (select max(number) from schema_migrations) as migration,
      (select convert_from(value, 'UTF8') from instance where name = 'installation') as installation,
      (select encode(value, 'base64') from instance where name = 'master_key_check') as "masterKeyCheck",
      transaction_timestamp() as "createdAt"`;
  if (row === undefined) throw new Error("the database returned no facts");
  return row;
}
