import type { Queryable } from "#control-plane/core/database/connect.ts";

/** An applied migration: its number, file name and the SHA-256 of the applied text. */
export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** A migration file. */
export interface MigrationFile extends AppliedMigration {
  readonly text: string;
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
 * it has waited 2 s for the lock of a table: every later statement on that table waits behind it. Number, name and checksum
 * are part of the text because a simple query takes no parameters; their form was checked when they were read.
 */
export async function applyMigration(sql: Queryable, file: MigrationFile): Promise<void> {
  await sql.unsafe(`${LOCK}
    set local lock_timeout = '2s';
    insert into schema_migrations (number, name, checksum) values (${file.number}, '${file.name}', '${file.checksum}');
    ${file.text}`);
}
