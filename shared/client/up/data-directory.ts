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
import { canEnter, databaseAccount } from "#shared/client/up/postgres/account.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/error-code.ts";

/** Where root keeps a database that the database's user could not reach in the data directory. */
const ELSEWHERE = "/var/lib/vantage";

/** Makes the data directory, private to its owner; one line where it cannot be written. */
export function openDataDirectory(path: string): { ok: true } | Problem {
  try {
    makeDirectory(path);
    accessSync(path, constants.W_OK | constants.X_OK);
    // Root's database runs as nobody, who has to pass through (not look around); every file has its own lock.
    if (process.getuid?.() === 0) chmodSync(path, statSync(path).mode | 0o111);
    return { ok: true };
  } catch (error) {
    return problem(
      `VANTAGE_DATA_DIR ${path} cannot be written (${describeError(error)}): make it writable or set another`,
    );
  }
}

/**
 * The directory of the embedded database: `postgres` in the data directory; or, started by root under a path that
 * nobody may enter (a clone in a 0700 home), one in /var/lib/vantage, noted in the data directory so that it is found
 * again wherever the data directory is moved.
 */
export function clusterDirectory(dataDirectory: string): { ok: true; path: string; elsewhere: boolean } | Problem {
  const usual = join(dataDirectory, "postgres");
  const note = join(dataDirectory, "postgres-is-elsewhere");
  if (existsSync(note)) return { ok: true, path: readFileSync(note, "utf8").trim(), elsewhere: true };
  const account = databaseAccount(join(usual, "data"));
  if (account === null || canEnter(dataDirectory, account)) return { ok: true, path: usual, elsewhere: false };
  if (existsSync(usual)) {
    return problem(
      `the database in ${usual} cannot be entered by its owner (user ${account.uid}): open the directories above it`,
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
      `${ELSEWHERE} cannot be written (${describeError(error)}): set VANTAGE_DATA_DIR to a place user nobody may enter`,
    );
  }
}
