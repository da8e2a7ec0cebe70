import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import type { Random } from "#shared/time/clock.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { makeDirectory } from "#shared/process/directory.ts";
import { base64Key } from "#shared/settings/kinds.ts";
import { LOCK_NOT_AVAILABLE } from "#control-plane/core/database/codes.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { checkValueOf } from "#shared/settings/master-key.ts";
import { createEncryption, type Encryption } from "#control-plane/core/secrets/encryption.ts";
import { findFact, keepFact } from "#control-plane/core/secrets/store.ts";

/** The fact by which a database recognises its master key. */
export const KEY_CHECK = "master_key_check";
/** The fact of the digest key that stays in use after a rotation, sealed. */
export const DIGEST_KEY = "digest_key";

/**
 * The master key is wrong: it is not the database's, or its file holds none. The message is one line for the operator.
 */
export class WrongMasterKey extends Error {
  override readonly name = "WrongMasterKey";
}

/**
 * Returns the master key, 32 bytes: the configured one, or that of `<data dir>/master-key` (0600, base64), created at
 * the first start. A file with other content is never replaced: it can be the damaged key of a database full of
 * secrets.
 */
export function readMasterKey(configured: Uint8Array | null, dataDir: string, random: Random): Uint8Array {
  if (configured !== null) return configured;
  makeDirectory(resolve(dataDir));
  return makeKeyFile(join(dataDir, "master-key"), random);
}

/** Returns the key in a file, which is created if it is missing: 0600, and on the disk before anything is sealed with it. */
export function makeKeyFile(file: string, random: Random): Uint8Array {
  const kept = readKeyFile(file);
  if (kept !== null) return kept;
  // Atomic, and on the disk before anything is encrypted with the key. If two processes do this, the first one wins.
  const draft = `${file}.${Buffer.from(random.bytes(6)).toString("hex")}`;
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    writeSync(descriptor, `${Buffer.from(random.bytes(32)).toString("base64")}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft);
  }
  syncDirectory(dirname(file));
  const made = readKeyFile(file);
  if (made === null) throw new Error(`${file} is missing after it was created`);
  return made;
}

/** Waits until the names of a directory's files are on the disk. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Returns the master key as readMasterKey does; null where that would create one. */
export function findMasterKey(configured: Uint8Array | null, dataDir: string): Uint8Array | null {
  return configured ?? readKeyFile(join(dataDir, "master-key"));
}

/** Returns the key in a file; null if there is no file. Throws WrongMasterKey if it has other content. */
export function readKeyFile(file: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return null;
    throw error;
  }
  const key = base64Key.parse(text.trim());
  if (key === undefined) throw new WrongMasterKey(`VANTAGE_MASTER_KEY: ${file} must hold ${base64Key.allowed}`);
  return key;
}

/** Throws WrongMasterKey if the database was set up with another key. The first key that is checked becomes its key. */
export async function checkMasterKey(sql: Sql, masterKey: Uint8Array): Promise<void> {
  const value = checkValueOf(masterKey);
  let kept: Uint8Array;
  try {
    kept = await keepFact(sql, KEY_CHECK, value);
  } catch (error) {
    if (!hasErrorCode(error, LOCK_NOT_AVAILABLE)) throw error;
    throw new WrongMasterKey("VANTAGE_MASTER_KEY is being rotated: start when the rotation has ended");
  }
  if (Buffer.compare(kept, value) === 0) return;
  throw new WrongMasterKey(
    "VANTAGE_MASTER_KEY is not the key of this database. Set it to that key, or restore the file master-key of the first " +
      `data directory. If the data directory has a file master-key.next, \`${LAUNCHER} rotate master-key\` ends the rotation`,
  );
}

/** Checks the master key, and returns its encryption. The digest key of before a rotation stays in use. */
export async function openEncryption(sql: Sql, masterKey: Uint8Array, random: Random): Promise<Encryption> {
  await checkMasterKey(sql, masterKey);
  const sealed = await findFact(sql, DIGEST_KEY);
  if (sealed === null) return createEncryption(masterKey, random);
  const digestKey = createEncryption(masterKey, random).open(sealed, "instance.digest_key");
  if (digestKey === null) throw new Error("the digest key in the database cannot be decrypted with the master key");
  return createEncryption(masterKey, random, digestKey);
}
