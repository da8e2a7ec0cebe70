import { hasErrorCode } from "#shared/contracts/error-code.ts";
import {
  DEADLOCK_DETECTED,
  LOCK_NOT_AVAILABLE,
  UNDEFINED_TABLE,
  UNIQUE_VIOLATION,
} from "#control-plane/core/database/codes.ts";
import { connect, type Sql, type Transaction } from "#control-plane/core/database/connect.ts";
import {
  applyMigration,
  listApplied,
  lockMigrations,
  readLedger,
  type AppliedMigration,
  type MigrationFile,
} from "#control-plane/core/migrations/store.ts";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** Reads the numbered .sql files of a folder, in order. Rejects if a number is missing or used twice. */
async function readMigrations(folder: URL): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(FILE_NAME.exec(name)?.[1]);
      if (number !== index + 1) throw new Error(`migration ${name}: expected number ${index + 1} and kebab-case`);
      const text = await readFile(new URL(name, folder), "utf8");
      return { number, name, text, checksum: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/**
 * Returns the files that are not applied yet. Throws if an applied file has changed since, because the database then
 * differs from the file. Applied migrations without a file are accepted: they come from a newer release that is being
 * rolled out.
 */
function pendingMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): readonly MigrationFile[] {
  const ledger = new Map(applied.map((migration) => [migration.number, migration]));
  return files.filter((file) => {
    const known = ledger.get(file.number);
    if (known !== undefined && known.checksum !== file.checksum) {
      throw new Error(`migration ${file.name} was changed after it was applied to this database as ${known.name}`);
    }
    return known === undefined;
  });
}

const FOLDER = new URL("./", import.meta.url);

/** Result of a run: the names of the files that it applied itself, in order. */
export interface Migrated {
  readonly applied: readonly string[];
}

/**
 * Applies all new migrations, forward only. Any number of processes can call it at the same time: one applies a file,
 * the others wait and continue. `folder` holds the numbered .sql files; tests pass their own. `prepare` runs before the
 * first new migration of a database that has older ones.
 */
export async function migrate(
  databaseUrl: string,
  folder: URL = FOLDER,
  prepare?: (newest: number) => Promise<void>,
): Promise<Migrated> {
  const files = await readMigrations(folder);
  const sql = connect(databaseUrl, { connections: 1, name: "vantage migrate", statementTimeoutMs: 0 });
  try {
    const applied: string[] = [];
    const ledger = await readLedger(sql);
    const pending = pendingMigrations(files, ledger);
    if (pending.length > 0 && ledger.length > 0) await prepare?.(Math.max(...ledger.map(({ number }) => number)));
    for (const file of pending) {
      try {
        await applyPatiently(sql, file);
        applied.push(file.name);
      } catch (error) {
        if (!hasErrorCode(error, UNIQUE_VIOLATION)) throw new Error(`migration ${file.name} failed`, { cause: error });
        // Another process has applied the file, or the file itself violates a constraint: the ledger shows which.
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

/** Time between attempts to get the locks of a migration, in which the statements that waited behind it run; milliseconds. */
const PAUSE_MS = 1_000;
/** With 2 s each, these take 5 minutes. */
const MOST_ATTEMPTS = 100;

/** Applies a file. While a transaction of somebody else holds its tables, it tries again. */
async function applyPatiently(sql: Sql, file: MigrationFile): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await applyMigration(sql, file);
    } catch (error) {
      if (!hasErrorCode(error, LOCK_NOT_AVAILABLE) && !hasErrorCode(error, DEADLOCK_DETECTED)) throw error;
      if (attempt === MOST_ATTEMPTS) {
        throw new Error("other transactions have held its tables for 5 minutes (pg_stat_activity shows them)", {
          cause: error,
        });
      }
    }
    await sleep(PAUSE_MS);
  }
}

/** Returns the number of the newest migration of this release. */
export async function newestMigration(): Promise<number> {
  return (await readMigrations(FOLDER)).length;
}

/**
 * Makes the database new in a transaction, while other processes that migrate wait: `clear` drops what there is, `fill` runs
 * when the tables are as they were at migration `from`, and the later migrations follow.
 */
export async function rebuild(
  tx: Transaction,
  from: number,
  { clear, fill }: { readonly clear: () => Promise<void>; readonly fill: () => Promise<void> },
): Promise<void> {
  const files = await readMigrations(FOLDER);
  await lockMigrations(tx);
  await clear();
  await readLedger(tx);
  for (const file of files.slice(0, from)) await applyMigration(tx, file);
  await fill();
  for (const file of files.slice(from)) await applyMigration(tx, file);
}

/** Creates a function that reports whether the database has every migration of this release; false if it has none. */
export function createMigrationCheck(folder: URL = FOLDER): (sql: Sql) => Promise<boolean> {
  const files = readMigrations(folder);
  // A caller gets the error. Without a caller, an unhandled rejection must not end the process.
  files.catch(() => {});
  return async (sql) => {
    try {
      return pendingMigrations(await files, await listApplied(sql)).length === 0;
    } catch (error) {
      if (hasErrorCode(error, UNDEFINED_TABLE)) return false;
      throw error;
    }
  };
}
