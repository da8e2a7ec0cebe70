import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { BACKED_UP, FREE_SEQUENCE } from "#control-plane/backups/tables.ts";
import { quote, setForm, type Table } from "#control-plane/backups/tables-store.ts";

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

/**
 * Reads the rows of a table in the text format of COPY: one line each. postgres.js 3.4.9 pauses the connection while rows wait
 * to be read, and goes on when more are asked for. After the last row nobody asks, and what the server says after it would
 * never arrive.
 */
export async function* readRows(tx: Transaction, { name, columns }: Table): AsyncGenerator<Buffer> {
  const rows = await tx.unsafe(`copy (select ${quote(...columns)} from ${quote(name)}) to stdout`).readable();
  for await (const piece of rows) yield piece as Buffer;
  // oxlint-disable-next-line no-underscore-dangle -- what a stream calls to ask for more
  rows._read(0);
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
interface Origin {
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
