import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "#shared/process/directory.ts";
import { canEnter, databaseAccount } from "#shared/process/system-account.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** Parent of database directories if Vantage runs as root and the database's user cannot enter the data directory. */
const ELSEWHERE = "/var/lib/vantage";

/** Creates the data directory, private to its owner; returns a problem if it is not writable. */
export function openDataDirectory(path: string): { ok: true } | Problem {
  try {
    makeDirectory(path);
    accessSync(path, constants.W_OK | constants.X_OK);
    // Under root the database runs as nobody, who needs execute (not read) permission; every file has its own mode.
    if (process.getuid?.() === 0) chmodSync(path, statSync(path).mode | 0o111);
    return { ok: true };
  } catch (error) {
    return problem(
      `VANTAGE_DATA_DIR ${path} is not writable (${describeError(error)}): make it writable or set another directory`,
    );
  }
}

/**
 * Returns the directory of the embedded database: `postgres` in the data directory. If root starts Vantage under a path
 * that user nobody cannot enter (a clone in a 0700 home), it is a directory in /var/lib/vantage. A file in the data
 * directory then contains its path, so that Vantage finds it after the data directory was moved.
 */
export function clusterDirectory(dataDirectory: string): { ok: true; path: string; elsewhere: boolean } | Problem {
  const usual = join(dataDirectory, "postgres");
  const note = join(dataDirectory, "postgres-is-elsewhere");
  if (existsSync(note)) return { ok: true, path: readFileSync(note, "utf8").trim(), elsewhere: true };
  const account = databaseAccount(join(usual, "data"));
  if (account === null || canEnter(dataDirectory, account)) return { ok: true, path: usual, elsewhere: false };
  if (existsSync(usual)) {
    return problem(
      `user ${account.uid}, which owns the database, cannot enter ${usual}: grant it execute permission on the parent directories`,
    );
  }
  const path = join(ELSEWHERE, createHash("sha256").update(dataDirectory).digest("hex").slice(0, 16));
  try {
    mkdirSync(ELSEWHERE, { recursive: true, mode: 0o755 });
    chmodSync(ELSEWHERE, 0o755);
    writeFileSync(note, `${path}\n`, { mode: 0o600 });
    return { ok: true, path, elsewhere: true };
  } catch (error) {
    return problem(
      `${ELSEWHERE} is not writable (${describeError(error)}): set VANTAGE_DATA_DIR to a directory that user nobody can enter`,
    );
  }
}
