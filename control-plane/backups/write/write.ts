import { createHash } from "node:crypto";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import type { Random } from "#shared/time/clock.ts";
import { encrypt } from "#control-plane/backups/format/age.ts";
import {
  fileOf,
  FORMAT,
  MANIFEST_NAME,
  type Manifest,
  type ManifestTable,
} from "#control-plane/backups/format/manifest.ts";
import { tarEnd, tarHeader, tarPadding } from "#shared/process/tar.ts";
import { BackupProblem } from "#control-plane/backups/problem.ts";
import { readOrigin, readRows, readSequences, readSnapshot } from "#control-plane/backups/write/store.ts";
import { DAY_TABLES } from "#control-plane/backups/tables.ts";
import { listTables, type Table } from "#control-plane/backups/tables-store.ts";
import { listDays } from "#control-plane/core/database/partitions/upkeep.ts";
import { UNDEFINED_TABLE } from "#control-plane/core/database/codes.ts";
import { connect, type Transaction } from "#control-plane/core/database/connect.ts";
import { newestMigration } from "#control-plane/core/migrations/migrate.ts";

/** What to back up, and where to. */
interface BackupOrder {
  readonly databaseUrl: string;
  /** The file; one that exists is replaced when the backup is complete. */
  readonly file: string;
  /** null: the file is not encrypted. */
  readonly passphrase: string | null;
  /** The version of this release. */
  readonly version: string;
  readonly random: Random;
  /** Aborted to stop: nothing is left then. */
  readonly signal?: AbortSignal;
}

/** A backup that was written. */
interface WrittenBackup {
  readonly bytes: number;
  readonly rows: number;
  readonly tables: number;
}

/**
 * Writes a backup of the whole database while it is in use, through one snapshot. Each table is read twice, first to
 * count and to hash, because an archive has the size of a file before its content; so memory does not grow with the
 * database. The file has a temporary name until it is complete and on the disk.
 */
export async function writeBackup(order: BackupOrder): Promise<WrittenBackup> {
  const { databaseUrl, file, passphrase, random, signal } = order;
  const sql = connect(databaseUrl, { name: "vantage backup", connections: 1, statementTimeoutMs: 0 });
  const draft = `${file}.${Buffer.from(random.bytes(6)).toString("hex")}.partial`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      return await readSnapshot(sql, async (tx) => {
        const { manifest, tables } = await describe(tx, order, signal);
        const archive = writeArchive(tx, manifest, tables);
        const bytes = await store(handle, passphrase === null ? archive : encrypt(archive, passphrase), signal);
        await handle.sync();
        await rename(draft, file);
        await syncDirectory(dirname(file));
        return { bytes, rows: sum(manifest.tables.map(({ rows }) => rows)), tables: tables.length };
      });
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw explain(error, file);
  } finally {
    await rm(draft, { force: true });
    await sql.end({ timeout: 5 });
  }
}

/** Reads all tables once for the manifest. */
async function describe(
  tx: Transaction,
  { version }: BackupOrder,
  signal?: AbortSignal,
): Promise<{ readonly manifest: Manifest; readonly tables: readonly Table[] }> {
  const { migration, installation, masterKeyCheck, createdAt } = await readOrigin(tx);
  const newest = await newestMigration();
  if (migration > newest) {
    throw new BackupProblem(
      `the database has migration ${migration}, and this release knows ${newest}: back up with the newer release`,
    );
  }
  const tables = await listTables(tx);
  const described: ManifestTable[] = [];
  for (const table of tables) {
    const hash = createHash("sha256");
    let [rows, bytes] = [0, 0];
    for await (const piece of readRows(tx, table)) {
      signal?.throwIfAborted();
      hash.update(piece);
      rows += countRows(piece);
      bytes += piece.length;
    }
    const ofDays = DAY_TABLES.find(({ name }) => name === table.name);
    const entry = { name: table.name, rows, bytes, sha256: hash.digest("hex") };
    if (ofDays === undefined) described.push(entry);
    else {
      const days = await listDays(tx, ofDays);
      described.push({ ...entry, days: days.map((day) => new Date(day).toISOString().slice(0, 10)) });
    }
  }
  const manifest: Manifest = {
    format: FORMAT,
    version,
    migration,
    installation,
    created_at: createdAt.toISOString(),
    master_key_check: masterKeyCheck,
    // Last, so that no row of the snapshot has a higher number.
    sequences: Object.fromEntries(await readSequences(tx)),
    tables: described,
  };
  return { manifest, tables };
}

/** Counts the rows in a piece of the text format: each ends with a line end, and has no other. */
export function countRows(piece: Uint8Array): number {
  let rows = 0;
  for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) rows += 1;
  return rows;
}

async function* writeArchive(
  tx: Transaction,
  manifest: Manifest,
  tables: readonly Table[],
): AsyncGenerator<Uint8Array> {
  const time = Math.floor(Date.parse(manifest.created_at) / 1_000);
  const headerOf = (path: string, size: number): Buffer =>
    tarHeader({ path, type: "file", mode: 0o600, size, time, target: "" });
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  yield headerOf(MANIFEST_NAME, text.length);
  yield text;
  yield tarPadding(text.length);
  for (const [index, table] of tables.entries()) {
    const entry = manifest.tables[index];
    if (entry === undefined) throw new Error(`${table.name} is not in the manifest`);
    yield headerOf(fileOf(entry), entry.bytes);
    const hash = createHash("sha256");
    for await (const piece of readRows(tx, table)) {
      hash.update(piece);
      yield piece;
    }
    if (hash.digest("hex") !== entry.sha256) throw new Error(`${table.name} differs between two reads of one snapshot`);
    yield tarPadding(entry.bytes);
  }
  yield tarEnd();
}

/** Bytes that are written at once. */
const WRITE_BYTES = 262_144;

async function store(handle: FileHandle, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> {
  const block = Buffer.alloc(WRITE_BYTES);
  let filled = 0;
  let total = 0;
  const flush = async (): Promise<void> => {
    await handle.writeFile(block.subarray(0, filled));
    total += filled;
    filled = 0;
  };
  for await (const piece of bytes) {
    signal?.throwIfAborted();
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + WRITE_BYTES - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled === WRITE_BYTES) await flush();
    }
  }
  await flush();
  return total;
}

/** Makes a rename last over a power cut. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function explain(error: unknown, file: string): unknown {
  if (hasErrorCode(error, "ENOSPC") || hasErrorCode(error, "EDQUOT")) {
    return new BackupProblem(`the disk of ${file} is full`);
  }
  for (const code of ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS", "EISDIR"]) {
    if (hasErrorCode(error, code)) return new BackupProblem(`${file} cannot be written (${code})`);
  }
  if (hasErrorCode(error, UNDEFINED_TABLE)) return new BackupProblem("the database has no data of Vantage");
  return error;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
