import postgres, { type Sql } from "postgres";
import { pendingMigrations, readMigrations } from "#control-plane/migrations/files.ts";
import { applyMigration, listApplied, readLedger } from "#control-plane/migrations/store.ts";

const FOLDER = new URL("./", import.meta.url);
const UNIQUE_VIOLATION = "23505";
const UNDEFINED_TABLE = "42P01";

/** What a run did: the names of the files it applied itself, in order. */
export interface Migrated {
  readonly applied: readonly string[];
}

/**
 * Brings a database up to date, forward only. Any number of processes may call it at once: one applies a file, the
 * others wait for it and go on. `folder` holds the numbered .sql files; tests hand in their own.
 */
export async function migrate(databaseUrl: string, folder: URL = FOLDER): Promise<Migrated> {
  const files = await readMigrations(folder);
  const sql = postgres(databaseUrl, { max: 1, connect_timeout: 10, onnotice: () => {} });
  try {
    const applied: string[] = [];
    for (const file of pendingMigrations(files, await readLedger(sql))) {
      try {
        await applyMigration(sql, file);
        applied.push(file.name);
      } catch (error) {
        if (!isCode(error, UNIQUE_VIOLATION)) throw new Error(`migration ${file.name} failed`, { cause: error });
        // Applied by another process meanwhile, or the file itself violates a constraint: the ledger knows.
        if (pendingMigrations(files, await readLedger(sql)).includes(file)) {
          throw new Error(`migration ${file.name} failed`, { cause: error });
        }
      }
    }
    return { applied };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Whether the database has every migration of this release; false also where it was never migrated. */
export async function isMigrated(sql: Sql, folder: URL = FOLDER): Promise<boolean> {
  const files = await readMigrations(folder);
  try {
    return pendingMigrations(files, await listApplied(sql)).length === 0;
  } catch (error) {
    if (isCode(error, UNDEFINED_TABLE)) return false;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
