import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** A user of the operating system, by number. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Debian's and Red Hat's numbers of `nobody`, for a machine whose passwd file does not list it. */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/** Returns the account `nobody` from a passwd file's text. */
export function parseNobody(passwd: string): Account {
  const fields = passwd
    .split("\n")
    .find((line) => line.startsWith("nobody:"))
    ?.split(":");
  const uid = Number(fields?.[2]);
  const gid = Number(fields?.[3]);
  return Number.isInteger(uid) && Number.isInteger(gid) && uid > 0 ? { uid, gid } : NOBODY;
}

/** Returns the account `nobody` of this machine. */
export function readNobody(): Account {
  try {
    return parseNobody(readFileSync("/etc/passwd", "utf8"));
  } catch {
    return NOBODY;
  }
}

/**
 * Returns the account that PostgreSQL runs as: the caller (null). PostgreSQL refuses to run as root, so for root it is
 * the owner of the existing data, else `nobody`.
 */
export function databaseAccount(dataDirectory: string): Account | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(dataDirectory, { throwIfNoEntry: false });
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : readNobody();
}

/** Reports whether the account may enter every directory of an existing path, including the last. */
export function canEnter(path: string, account: Account): boolean {
  for (let step = realpathSync(path); ; step = dirname(step)) {
    if (!allows(step, account, 0o1)) return false;
    if (step === dirname(step)) return true;
  }
}

/** Reports whether the account may reach a file or directory, read it and execute (list) it. */
export function canUse(path: string, account: Account): boolean {
  const real = realpathSync(path);
  return allows(real, account, 0o5) && canEnter(dirname(real), account);
}

function allows(path: string, account: Account, needed: number): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & needed) === needed;
}
