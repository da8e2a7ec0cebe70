import { linkSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkValueOf } from "#shared/settings/master-key.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { Random } from "#shared/time/clock.ts";
import { BackupProblem } from "#control-plane/backups/problem.ts";
import { changeValues, lockFact, replaceFact } from "#control-plane/backups/rotate/store.ts";
import { readTarget, refuseUnfit } from "#control-plane/backups/target-store.ts";
import { connect, type Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { newestMigration } from "#control-plane/core/migrations/migrate.ts";
import { createEncryption, digestKeyOf } from "#control-plane/core/secrets/encryption.ts";
import {
  DIGEST_KEY,
  KEY_CHECK,
  makeKeyFile,
  readKeyFile,
  syncDirectory,
  WrongMasterKey,
} from "#control-plane/core/secrets/master-key.ts";
import { SEALED } from "#control-plane/core/secrets/sealed.ts";

/** What to rotate, and how. */
interface RotationOrder {
  readonly databaseUrl: string;
  /** The key of the environment; null: it is in the file master-key of the data directory. */
  readonly masterKey: Uint8Array | null;
  readonly dataDir: string;
  /** The file of the new key, made if it is missing, where the present one is in the environment; null: none was named. */
  readonly newKeyFile: string | null;
  readonly random: Random;
  /** false: refuse, and say what a rotation would do. */
  readonly isConfirmed: boolean;
  /** Links of before end, for a key that others know. */
  readonly endsLinks: boolean;
}

/** A rotation that is done. */
interface Rotated {
  /** Values that were sealed again; null: the database had the new key already. */
  readonly values: number | null;
  /** Values that were damaged before, and are as they were. */
  readonly damaged: number;
  /** The file that has the new key. */
  readonly file: string;
  /** The file that has the old key; null: it is in the environment. */
  readonly oldFile: string | null;
}

/** The files of keys. */
interface KeyFiles {
  readonly current: string;
  readonly next: string;
  readonly old: string;
}

/**
 * Gives the database a new master key, in one transaction. The new key is on the disk before it. A rotation that was killed
 * goes on when it is run again: the check value of the database says which key it has. Throws a BackupProblem or
 * WrongMasterKey.
 */
export async function rotateMasterKey(order: RotationOrder): Promise<Rotated> {
  const { databaseUrl, masterKey, dataDir, newKeyFile, random } = order;
  const files = masterKey === null ? filesIn(dataDir) : null;
  if (files !== null && newKeyFile !== null) {
    throw new BackupProblem(`the master key is in ${files.current}, and its next one gets there by itself`, 2);
  }
  const file = files?.next ?? newKeyFile;
  if (file === null)
    throw new BackupProblem("VANTAGE_MASTER_KEY is set: name the file of the new key (--new-key-file)", 2);
  const present = files === null ? masterKey : readKeyFile(files.current);
  const next = readKeyFile(file);
  const sql = connect(databaseUrl, { name: "vantage rotate", connections: 1, statementTimeoutMs: 0 });
  try {
    const target = await readTarget(sql);
    const check = target.migration === 0 ? null : await lockFact(sql, KEY_CHECK);
    if (check === null) throw new BackupProblem("the database has no master key yet", 2);
    const done = { file: files?.current ?? file, oldFile: files?.old ?? null };
    if (next !== null && isKeyOf(check, next)) {
      if (files !== null) replaceKey(files);
      return { ...done, values: null, damaged: 0 };
    }
    if (present === null || !isKeyOf(check, present)) {
      throw new WrongMasterKey(
        "VANTAGE_MASTER_KEY, or the file master-key of the data directory, is not the database's",
      );
    }
    if (files !== null && readKeyFile(files.old) !== null) {
      throw new BackupProblem(`${files.old} has the key of older backups: move it to a safe place first`);
    }
    if (!order.isConfirmed) {
      throw new BackupProblem("backups of before a rotation need the old key to be restored: --yes rotates", 2);
    }
    const fresh = next ?? makeKeyFile(file, random);
    const sealed = await transact(sql, (tx) => sealAgain(tx, present, fresh, order));
    if (files !== null) replaceKey(files);
    return { ...done, ...sealed };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function filesIn(dataDir: string): KeyFiles {
  const current = join(dataDir, "master-key");
  return { current, next: `${current}.next`, old: `${current}.old` };
}

function isKeyOf(check: Uint8Array, key: Uint8Array): boolean {
  return Buffer.compare(check, checkValueOf(key)) === 0;
}

/** Seals everything with another key. The lock keeps control planes from starting, and those that run have connections. */
async function sealAgain(
  tx: Transaction,
  present: Uint8Array,
  next: Uint8Array,
  { random, endsLinks }: RotationOrder,
): Promise<Pick<Rotated, "values" | "damaged"> & { readonly values: number }> {
  const check = await lockFact(tx, KEY_CHECK);
  const target = await readTarget(tx);
  const newest = await newestMigration();
  refuseUnfit(target, newest);
  if (target.migration < newest) {
    throw new BackupProblem(
      `the database has migration ${target.migration}, and this release ${newest}: run \`${LAUNCHER} migrate\` first`,
    );
  }
  if (check === null || !isKeyOf(check, present)) throw new BackupProblem("another rotation was faster: run it again");
  const [from, to] = [createEncryption(present, random), createEncryption(next, random)];
  if (endsLinks) await replaceFact(tx, DIGEST_KEY, null);
  let [values, damaged] = [0, 0];
  for (const column of SEALED) {
    await changeValues(tx, column, (rows) => {
      const changed = rows.flatMap(({ place, value, bound }) => {
        const purpose = [column.purpose, ...bound].join(" ") as typeof column.purpose;
        const opened = from.open(value, purpose);
        return opened === null ? [] : [{ place, value: to.seal(opened, purpose) }];
      });
      values += changed.length;
      damaged += rows.length - changed.length;
      return changed;
    });
  }
  if (!endsLinks && (await lockFact(tx, DIGEST_KEY)) === null) {
    await replaceFact(tx, DIGEST_KEY, to.seal(digestKeyOf(present), "instance.digest_key"));
  }
  await replaceFact(tx, KEY_CHECK, checkValueOf(next));
  return { values, damaged };
}

/** Puts the next key in the place of the present one, which never has none: a control plane would make one. */
function replaceKey({ current, next, old }: KeyFiles): void {
  const [kept, present] = [readKeyFile(old), readKeyFile(current)];
  if (kept === null && present !== null) linkSync(current, old);
  syncDirectory(dirname(current));
  renameSync(next, current);
  syncDirectory(dirname(current));
}
