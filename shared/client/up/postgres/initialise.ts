import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Account } from "#shared/process/system-account.ts";
import type { Problem } from "#shared/client/up/problem.ts";

/** The superuser and only role of an embedded cluster. */
export const ROLE = "vantage";

/** The whole environment of initdb and postgres; it contains no variable of the caller (PGDATA, LD_PRELOAD ...). */
const SERVER_ENVIRONMENT = { PATH: "/usr/bin:/bin", LC_ALL: "C" };

/** Returns the process options to run a program as the account, in `/`: it may be unable to enter the caller's directory. */
export function runAs(account: Account | null): {
  cwd: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
} {
  return { cwd: "/", env: SERVER_ENVIRONMENT, ...account };
}

/** Creates the directory of a cluster (data, password and log), owned by the server's account. */
export function makeClusterDirectory(root: string, account: Account | null): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  if (account) chownSync(root, account.uid, account.gid);
}

/** Reads the password of an initialised cluster. Throws if the file is missing. */
export function readPassword(root: string): string {
  return readFileSync(join(root, "password"), "utf8");
}

/**
 * Runs initdb in a temporary directory and renames it at the end, so that an interrupted run leaves no data directory
 * that looks complete. The builtin C.UTF-8 locale gives the same sort order on every machine, independent of glibc.
 */
export async function initialise(options: {
  root: string;
  native: string;
  account: Account | null;
  extra: readonly string[];
}): Promise<{ ok: true } | Problem> {
  const { root, native, account, extra } = options;
  const unfinished = join(root, "data.unfinished");
  const passwordFile = join(root, "password.initdb");
  const password = randomBytes(32).toString("hex");
  rmSync(unfinished, { recursive: true, force: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account) chownSync(passwordFile, account.uid, account.gid);
  writeFileSync(join(root, "password"), password, { mode: 0o600 });
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const login = [`--username=${ROLE}`, "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  try {
    await promisify(execFile)(
      join(native, "bin", "initdb"),
      [`--pgdata=${unfinished}`, ...login, ...locale, "--no-instructions", ...extra],
      runAs(account),
    );
    renameSync(unfinished, join(root, "data"));
    return { ok: true };
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const reason = (stderr || message).trim().split("\n").at(-1) ?? "";
    return {
      ok: false,
      line: `the embedded PostgreSQL could not be set up (${reason}): set DATABASE_URL to use your own server`,
    };
  } finally {
    rmSync(passwordFile, { force: true });
  }
}
