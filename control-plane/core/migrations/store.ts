import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";

/** An applied migration: its number, file name and the SHA-256 of the applied text. */
export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** A migration file. */
export interface MigrationFile extends AppliedMigration {
  readonly text: string;
  /** The table whose rows its only statement moves, some at each run, until a run moves none; null: it runs once. */
  readonly movesRowsOf: string | null;
}

// The statements of one simple query are one transaction on one connection, also behind a pooler: a backend that dies
// in the middle can neither leave a part behind nor let the rest run outside the transaction.
const LOCK = "select pg_advisory_xact_lock(8026134478126);";

/** Waits until no other process migrates, and keeps others from it until the transaction ends. */
export async function lockMigrations(tx: Queryable): Promise<void> {
  await tx.unsafe(LOCK);
}

/** Creates the ledger if it is missing, and reads it, oldest first. */
export async function readLedger(sql: Queryable): Promise<readonly AppliedMigration[]> {
  await sql.unsafe(`${LOCK}
    create table if not exists schema_migrations (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`);
  return listApplied(sql);
}

/** Reads the ledger, oldest first. Rejects with code 42P01 if the database was never migrated. */
export async function listApplied(sql: Queryable): Promise<readonly AppliedMigration[]> {
  return sql<AppliedMigration[]>`select number, name, checksum from schema_migrations order by number`;
}

/**
 * Applies one file and records it, both or neither. Rejects with code 23505 if another process was faster, and with 55P03 if
 * it has waited 2 s for the lock of a table.
 */
export async function applyMigration(sql: Queryable, file: MigrationFile): Promise<void> {
  await sql.unsafe(`${BOUNDED} ${record(file)} ${file.text}`);
}

// Every later statement on a table waits behind the one that waits for its lock.
const BOUNDED = `${LOCK} set local lock_timeout = '2s';`;

// A simple query takes no parameters. The form of these three was checked when they were read.
function record({ number, name, checksum }: AppliedMigration): string {
  return `insert into schema_migrations (number, name, checksum) values (${number}, '${name}', '${checksum}');`;
}

/** Runs the statement of a file that moves rows once. Returns the number of rows that it has moved. */
export async function moveRows(tx: Transaction, file: MigrationFile): Promise<number> {
  await tx.unsafe(BOUNDED);
  return (await tx.unsafe(file.text)).count;
}

/** Records a file that moves rows, after a run that has moved none. Rejects with code 23505 if another process was faster. */
export async function recordMoved(sql: Queryable, file: MigrationFile): Promise<void> {
  await sql.unsafe(record(file));
}

/** Size of a table with its partitions and indexes: rows by the statistics of the last analyse, and bytes on the disk. */
export async function sizeOf(
  sql: Queryable,
  table: string,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const [size] = await sql<{ rows: number; bytes: number }[]>`
    select coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 as rows,
      coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes
    from pg_class as c
    where c.relkind = 'r'
      and (c.oid = to_regclass(${table}) or c.oid in (select relid from pg_partition_tree(to_regclass(${table}))))`;
  return size ?? { rows: 0, bytes: 0 };
}

/** Bytes of the database on the disk. */
export async function databaseSize(sql: Queryable): Promise<number> {
  const [size] = await sql<{ bytes: number }[]>`select pg_database_size(current_database())::float8 as bytes`;
  return size?.bytes ?? 0;
}
