import { chmodSync, existsSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "#shared/process/system-account.ts";
import { canUse } from "#shared/process/system-account.ts";
import type { Binaries } from "#shared/client/up/postgres/binaries.ts";

function openToAll(path: string): void {
  const entry = lstatSync(path);
  if (entry.isSymbolicLink()) return;
  const executable = entry.isDirectory() || (entry.mode & 0o100) !== 0;
  chmodSync(path, executable ? 0o755 : 0o644);
  if (entry.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}

/**
 * Returns the directory of PostgreSQL's programs: the installed one, or, if the account cannot enter it (a clone in a
 * 0700 home, started as root), a copy in `root` made once. Symbolic links stay links: the libraries need them.
 */
export async function reachablePrograms(binaries: Binaries, root: string, account: Account | null): Promise<string> {
  const parts = ["bin/postgres", "bin/initdb", "lib", "share"].map((part) => join(binaries.directory, part));
  if (account === null || parts.every((part) => canUse(part, account))) return binaries.directory;
  const copy = join(root, `programs-${binaries.version}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  await cp(binaries.directory, unfinished, { recursive: true, verbatimSymlinks: true });
  openToAll(unfinished);
  renameSync(unfinished, copy);
  return copy;
}
