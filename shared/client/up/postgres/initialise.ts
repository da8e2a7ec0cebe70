import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Account } from "#shared/client/up/postgres/account.ts";
import type { Problem } from "#shared/client/up/problem.ts";

/** The superuser of an embedded cluster and the only role it has. */
export const ROLE = "vantage";

/** initdb's and postgres's whole environment: nothing of the caller's (PGDATA, LD_PRELOAD ...) leaks in. */
export const SERVER_ENVIRONMENT = { PATH: "/usr/bin:/bin", LC_ALL: "C" };

/** The process options under which a program runs as the account. `/` because a 0700 directory cannot be kept. */
export function runAs(account: Account | null): {
  cwd: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
} {
  return { cwd: "/", env: SERVER_ENVIRONMENT, ...account };
}

/** The directory of a cluster: data, password and log, owned by whoever runs the server. */
export function makeClusterDirectory(root: string, account: Account | null): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  if (account) chownSync(root, account.uid, account.gid);
}

/** The password of an initialised cluster. Throws where the file is gone. */
export function readPassword(root: string): string {
  return readFileSync(join(root, "password"), "utf8");
}

/**
 * Runs initdb. It works beside the final place and moves there at the end, so that one cut short leaves nothing
 * that looks finished. The builtin C.UTF-8 locale makes sort order the same on every machine, whatever its glibc.
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
      line: `the embedded PostgreSQL could not be set up (${reason}): set DATABASE_URL to use a server of your own`,
    };
  } finally {
    rmSync(passwordFile, { force: true });
  }
}
