import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import type { Random } from "#shared/time/clock.ts";
import { makeDirectory } from "#shared/process/directory.ts";
import { base64Key } from "#shared/settings/kinds.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { checkValueOf } from "#control-plane/core/secrets/encryption.ts";
import { keepFact } from "#control-plane/core/secrets/store.ts";

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
  const file = join(dataDir, "master-key");
  const kept = readKeyFile(file);
  if (kept !== null) return kept;
  makeDirectory(resolve(dataDir));
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
  const made = readKeyFile(file);
  if (made === null) throw new Error(`${file} is missing after it was created`);
  return made;
}

/** Returns the master key as readMasterKey does; null where that would create one. */
export function findMasterKey(configured: Uint8Array | null, dataDir: string): Uint8Array | null {
  return configured ?? readKeyFile(join(dataDir, "master-key"));
}

function readKeyFile(file: string): Uint8Array | null {
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
  const kept = await keepFact(sql, "master_key_check", value);
  if (Buffer.compare(kept, value) === 0) return;
  throw new WrongMasterKey(
    "VANTAGE_MASTER_KEY is not the key with which this database was set up. Set it to that key, or restore the file " +
      "master-key of the first data directory",
  );
}
