import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { describeError, hasErrorCode } from "#shared/contracts/error-code.ts";
import type { Random } from "#shared/time/clock.ts";
import { AGE_START_BYTES, decrypt, isAge } from "#control-plane/backups/format/age.ts";
import { createByteReader, type ByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { fileOf, readManifest, type Manifest, type ManifestTable } from "#control-plane/backups/format/manifest.ts";
import { readTarHeader, skipPadding } from "#control-plane/backups/format/tar.ts";
import { BackupProblem, damaged, notBackup, truncated } from "#control-plane/backups/problem.ts";
import { endOpenWork, makeCopy } from "#control-plane/backups/restore/settle-store.ts";
import {
  analyzeTables,
  createDays,
  dropAll,
  setSequences,
  withoutForeignKeys,
  writeRows,
} from "#control-plane/backups/restore/store.ts";
import { BACKED_UP } from "#control-plane/backups/tables.ts";
import { listTables, type Table } from "#control-plane/backups/tables-store.ts";
import { readTarget, refuseUnfit, type Target } from "#control-plane/backups/target-store.ts";
import { countRows } from "#control-plane/backups/write/write.ts";
import { LOCK_NOT_AVAILABLE } from "#control-plane/core/database/codes.ts";
import { connect, type Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { newestMigration, rebuild } from "#control-plane/core/migrations/migrate.ts";
import { checkValueOf } from "#shared/settings/master-key.ts";
import { createInstallation } from "#control-plane/core/secrets/installation.ts";

/** What to restore, and how. */
interface RestoreOrder {
  readonly databaseUrl: string;
  readonly file: string;
  /** null: none was given. */
  readonly passphrase: string | null;
  /** null: there is none yet. */
  readonly masterKey: Uint8Array | null;
  readonly random: Random;
  /** Reads and checks everything, and changes nothing. */
  readonly isDryRun: boolean;
  /** Data that exist are replaced. */
  readonly mayReplace: boolean;
  /** The restored service is another installation, beside the first one. */
  readonly isCopy: boolean;
}

/** A backup that was restored, or could be. */
interface Restored {
  readonly manifest: Manifest;
  /** Accounts that were in the database before. */
  readonly replaced: number;
  /** Deliveries that were open in the backup. */
  readonly endedDeliveries: number;
}

/**
 * Restores a backup in one transaction: until its commit, and if the process or the server ends before it, the old data stand.
 * The file is checked while it is read, the last byte before the commit. Throws a BackupProblem.
 */
export async function restoreBackup(order: RestoreOrder): Promise<Restored> {
  const { databaseUrl, file, passphrase, masterKey, isDryRun } = order;
  const sql = connect(databaseUrl, { name: "vantage restore", connections: 1, statementTimeoutMs: 0 });
  const handle = await open(file, "r").catch((error: unknown) => {
    throw new BackupProblem(`${file} cannot be read (${describeError(error)})`, 2);
  });
  try {
    const archive = await openArchive(createByteReader(handle.createReadStream({ autoClose: false })), passphrase);
    const manifest = await readManifest(archive);
    await checkManifest(manifest, masterKey);
    if (isDryRun) {
      const target = await readTarget(sql);
      await checkTarget(target, true);
      for (const table of manifest.tables) await drain(readTable(archive, table));
      await readEnd(archive);
      return { manifest, replaced: target.accounts, endedDeliveries: 0 };
    }
    return await transact(sql, (tx) => replaceAll(tx, archive, manifest, order));
  } catch (error) {
    throw explain(error);
  } finally {
    await handle.close().catch(() => {});
    await sql.end({ timeout: 5 });
  }
}

async function openArchive(file: ByteReader, passphrase: string | null): Promise<ByteReader> {
  if (!isAge(await file.peek(AGE_START_BYTES))) {
    const start = await file.peek(512);
    if (start.toString("latin1", 257, 262) !== "ustar") throw notBackup("it is no archive of tar and no file of age");
    return file;
  }
  if (passphrase === null)
    throw new BackupProblem("the backup is encrypted: name its passphrase (--passphrase-file)", 4);
  return createByteReader(decrypt(file, passphrase));
}

async function checkManifest(manifest: Manifest, masterKey: Uint8Array | null): Promise<void> {
  const newest = await newestMigration();
  if (manifest.migration > newest) {
    throw new BackupProblem(
      `the backup is of a newer release (${manifest.version}, migration ${manifest.migration}), and this one knows ` +
        `${newest} migrations: update Vantage`,
    );
  }
  const names = manifest.tables.map(({ name }) => name);
  const unknown = names.find((name, index) => !BACKED_UP.includes(name) || names.indexOf(name) !== index);
  if (unknown !== undefined) throw notBackup(`it has a table ${JSON.stringify(unknown)}`);
  const check = masterKey === null ? null : Buffer.from(checkValueOf(masterKey)).toString("base64");
  if (manifest.master_key_check !== null && manifest.master_key_check !== check) {
    throw new BackupProblem(
      `${masterKey === null ? "there is no master key" : "the master key is not that of the backup"}: set VANTAGE_MASTER_KEY, or put the file master-key of the backed up ` +
        "service into the data directory",
      4,
    );
  }
}

async function checkTarget(target: Target, mayReplace: boolean): Promise<void> {
  refuseUnfit(target, await newestMigration());
  const { accounts } = target;
  if (accounts > 0 && !mayReplace) {
    throw new BackupProblem(`the database has data (accounts: ${accounts}): --yes replaces all of them`, 2);
  }
}

async function replaceAll(
  tx: Transaction,
  archive: ByteReader,
  manifest: Manifest,
  { mayReplace, isCopy, random }: RestoreOrder,
): Promise<Restored> {
  let replaced = 0;
  await rebuild(tx, manifest.migration, {
    async clear() {
      const target = await readTarget(tx);
      await checkTarget(target, mayReplace);
      replaced = target.accounts;
      await dropAll(tx);
    },
    fill: () => fillAll(tx, archive, manifest),
  });
  const { deliveries } = await endOpenWork(tx);
  if (isCopy) await makeCopy(tx, createInstallation(random));
  await analyzeTables(tx);
  return { manifest, replaced, endedDeliveries: deliveries };
}

async function fillAll(tx: Transaction, archive: ByteReader, manifest: Manifest): Promise<void> {
  const tables = new Map((await listTables(tx)).map((table) => [table.name, table]));
  await withoutForeignKeys(tx, [...tables.values()], async () => {
    for (const entry of manifest.tables) {
      const table = tables.get(entry.name);
      if (table === undefined) throw notBackup(`migration ${manifest.migration} has no table ${entry.name}`);
      await fillTable(tx, table, entry, archive);
    }
    await readEnd(archive);
  });
  await setSequences(tx, manifest.sequences);
}

async function fillTable(tx: Transaction, table: Table, entry: ManifestTable, archive: ByteReader): Promise<void> {
  const days = (entry.days ?? []).map((day) => Date.parse(`${day}T00:00:00Z`)).filter((day) => !Number.isNaN(day));
  await createDays(tx, table.name, days);
  if (entry.rows === 0) return drain(readTable(archive, entry));
  await pipeline(readTable(archive, entry), await writeRows(tx, table));
}

/** Reads the rows of the next table, and compares them with the manifest before the last of them is done. */
async function* readTable(archive: ByteReader, entry: ManifestTable): AsyncGenerator<Buffer> {
  const header = await readTarHeader(archive);
  if (header?.name !== fileOf(entry) || header.size !== entry.bytes) {
    throw damaged(`its archive has no file ${fileOf(entry)} of ${entry.bytes} bytes where the manifest says so`);
  }
  const hash = createHash("sha256");
  let [rows, bytes] = [0, 0];
  for await (const piece of archive.pieces(entry.bytes)) {
    hash.update(piece);
    rows += countRows(piece);
    bytes += piece.length;
    yield piece;
  }
  if (bytes < entry.bytes) throw truncated();
  if (rows !== entry.rows || hash.digest("hex") !== entry.sha256) {
    throw damaged(`the rows of the table ${entry.name} were changed`);
  }
  await skipPadding(archive, entry.bytes);
}

/** Reads the end of the archive, and what follows it: the end of an encrypted file shows that it is complete. */
async function readEnd(archive: ByteReader): Promise<void> {
  if ((await readTarHeader(archive)) !== null) throw damaged("its archive has files that the manifest does not name");
  if ((await archive.read(512)).length < 512) throw truncated();
  if ((await archive.read(1)).length > 0) throw damaged("there is something behind its end");
}

async function drain(rows: AsyncGenerator<Buffer>): Promise<void> {
  for await (const _ of rows);
}

/** PostgreSQL, appendix A. */
const [DISK_FULL, OUT_OF_MEMORY] = ["53100", "53200"];

function explain(error: unknown): unknown {
  if (hasErrorCode(error, DISK_FULL)) return new BackupProblem("the disk of the database is full: nothing was changed");
  if (hasErrorCode(error, OUT_OF_MEMORY)) {
    return new BackupProblem(
      "the database is out of shared memory: raise max_locks_per_transaction, as for restores of pg_dump",
    );
  }
  if (hasErrorCode(error, LOCK_NOT_AVAILABLE)) {
    return new BackupProblem("a table is in use by another connection: end what else uses the database");
  }
  return error;
}
