import { hasErrorCode } from "#shared/contracts/error-code.ts";
import {
  DEADLOCK_DETECTED,
  LOCK_NOT_AVAILABLE,
  UNDEFINED_TABLE,
  UNIQUE_VIOLATION,
} from "#control-plane/core/database/codes.ts";
import { connect, type Queryable, type Sql, type Transaction } from "#control-plane/core/database/connect.ts";
import {
  applyMigration,
  databaseSize,
  listApplied,
  lockMigrations,
  moveRows,
  readLedger,
  recordMoved,
  sizeOf,
  type AppliedMigration,
  type MigrationFile,
} from "#control-plane/core/migrations/store.ts";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/;

/**
 * First line of a file that moves history: its only statement changes some 10,000 rows of this table that are not moved yet, and
 * runs until it changes none. Each run is a transaction, so what is moved stays moved if the process ends.
 */
const MOVES = /^-- Moves rows of ([a-z_]+), some at each run\.\n/;

/** Reads the numbered .sql files of a folder, in order. Rejects if a number is missing or used twice. */
async function readMigrations(folder: URL): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(FILE_NAME.exec(name)?.[1]);
      if (number !== index + 1) throw new Error(`migration ${name}: expected number ${index + 1} and kebab-case`);
      const text = await readFile(new URL(name, folder), "utf8");
      const checksum = createHash("sha256").update(text).digest("hex");
      return { number, name, text, checksum, movesRowsOf: MOVES.exec(text)?.[1] ?? null };
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

/** How far an upgrade is. */
export interface UpgradeProgress {
  /** Name of the file that is being applied. */
  readonly migration: string;
  /** Number of files after it. */
  readonly left: number;
  /** Rows that it has moved; null if it is no file that moves rows. Those of before an interruption do not count. */
  readonly rows: number | null;
  /** Number of rows of its table, by the statistics of the database. */
  readonly tableRows: number | null;
}

/** What an upgrade begins with. */
export interface UpgradeStart {
  /** Number of the newest migration that the database has. */
  readonly newest: number;
  readonly databaseBytes: number;
  /** Bytes of the tables whose rows will be moved: the old rows keep their space until the database cleans up. */
  readonly movedBytes: number;
}

/** What is called during a run for a database that has older migrations. */
export interface UpgradeHooks {
  /** Called before the first new migration. If it rejects, none is applied. */
  readonly prepare?: ((start: UpgradeStart) => Promise<void>) | undefined;
  /** Called when a file begins, and after each transaction that has moved rows. */
  readonly report?: ((progress: UpgradeProgress) => void) | undefined;
}

/**
 * Applies all new migrations, forward only. Any number of processes can call it at the same time: one applies a file,
 * the others wait and continue. `folder` holds the numbered .sql files; tests pass their own.
 */
export async function migrate(
  databaseUrl: string,
  folder: URL = FOLDER,
  { prepare, report }: UpgradeHooks = {},
): Promise<Migrated> {
  const files = await readMigrations(folder);
  const sql = connect(databaseUrl, { connections: 1, name: "vantage migrate", statementTimeoutMs: 0 });
  try {
    const applied: string[] = [];
    const ledger = await readLedger(sql);
    const pending = pendingMigrations(files, ledger);
    if (prepare !== undefined && pending.length > 0 && ledger.length > 0) {
      const newest = Math.max(...ledger.map(({ number }) => number));
      await prepare({ newest, databaseBytes: await databaseSize(sql), movedBytes: await bytesOfMoved(sql, pending) });
    }
    const tell = ledger.length > 0 ? report : undefined;
    for (const [index, file] of pending.entries()) {
      const left = pending.length - index - 1;
      try {
        await apply(sql, file, (moved) => tell?.({ migration: file.name, left, ...moved }));
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

async function bytesOfMoved(sql: Queryable, files: readonly MigrationFile[]): Promise<number> {
  let bytes = 0;
  for (const { movesRowsOf } of files) if (movesRowsOf !== null) bytes += (await sizeOf(sql, movesRowsOf)).bytes;
  return bytes;
}

/** Applies a file: whole in one transaction, or some rows in each. */
async function apply(
  sql: Sql,
  file: MigrationFile,
  report: (moved: Pick<UpgradeProgress, "rows" | "tableRows">) => void,
): Promise<void> {
  if (file.movesRowsOf === null) {
    report({ rows: null, tableRows: null });
    return patiently(() => applyMigration(sql, file));
  }
  const { rows: tableRows } = await sizeOf(sql, file.movesRowsOf);
  let rows = 0;
  for (;;) {
    report({ rows, tableRows });
    const moved = await patiently(() => sql.begin((tx) => moveRows(tx, file)));
    if (moved === 0) return recordMoved(sql, file);
    rows += moved;
  }
}

/** Time between attempts to get the locks of a migration, in which the statements that waited behind it run; milliseconds. */
const PAUSE_MS = 1_000;
/** With 2 s each, these take 5 minutes. */
const MOST_ATTEMPTS = 100;

/** Runs a transaction of a migration. While a transaction of somebody else holds its tables, it tries again. */
async function patiently<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
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
  for (const file of files.slice(0, from)) await applyIn(tx, file);
  await fill();
  for (const file of files.slice(from)) await applyIn(tx, file);
}

async function applyIn(tx: Transaction, file: MigrationFile): Promise<void> {
  if (file.movesRowsOf === null) return applyMigration(tx, file);
  while ((await moveRows(tx, file)) > 0);
  return recordMoved(tx, file);
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
