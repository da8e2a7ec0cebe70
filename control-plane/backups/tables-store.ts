import type { Transaction } from "#control-plane/core/database/connect.ts";
import { BACKED_UP } from "#control-plane/backups/tables.ts";

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
