import { spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { canUse, readNobody, type Account } from "#shared/process/system-account.ts";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/**
 * Finds the browser to run: the configured program, else the first of the usual names in `searchPath` (directories).
 * null if none is executable. Checks a few file names and starts no program.
 */
export function findChromium(configured: string | null, searchPath: readonly string[]): string | null {
  const candidates =
    configured === null ? searchPath.flatMap((folder) => PROGRAMS.map((name) => join(folder, name))) : [configured];
  return candidates.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Returns the absolute directories of a PATH. */
export function searchPathOf(path: string | undefined): readonly string[] {
  return (path ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
}

/** Returns whom a browser of this process runs as: the caller (null), or for root the user nobody. */
export function browserAccount(): Account | null {
  return process.getuid?.() === 0 ? readNobody() : null;
}

/** Folders of the program that starts a sandbox without user namespaces: Debian's, and Google's package. */
const SANDBOX_FOLDERS = ["/usr/lib/chromium", "/usr/lib64/chromium-browser", "/opt/google/chrome"];
const SETUID = 0o4000;

/**
 * Returns why no browser runs, as what follows "Chromium is not used: "; null if it can, as `account` (null: this user) with a
 * sandbox. Pages come from strangers, so a browser of root runs as another user, and each only with its sandbox. `searchPath`
 * has the program that tries a user namespace.
 */
export function whyNoSandbox(
  executable: string,
  account: Account | null,
  searchPath: readonly string[],
): string | null {
  if (account !== null && !canUse(executable, account)) {
    return (
      `the user nobody, as whom root runs it, cannot run ${executable}: put it where this user can read it, or run the agent ` +
      "as another user than root"
    );
  }
  if ((tryUserNamespace(account, searchPath) ?? hasUserNamespaces()) || hasSetuidSandbox(executable)) return null;
  return (
    "its sandbox cannot start: allow user namespaces (user.max_user_namespaces; in a container its seccomp profile), or install " +
    "Debian's chromium-sandbox and allow new privileges (no-new-privileges; in a container CAP_SYS_ADMIN)"
  );
}

/** Status of a program that could not start the command that it was given (env(1)). */
const NOT_STARTED = 126;

/** Makes a user namespace, as the sandbox does: seccomp, chroot and AppArmor refuse one too. null: no program can try it. */
function tryUserNamespace(account: Account | null, searchPath: readonly string[]): boolean | null {
  const unshare = searchPath.map((folder) => join(folder, "unshare")).find(isProgram);
  if (unshare === undefined) return null;
  const tried = spawnSync(unshare, ["-U", "/bin/sh", "-c", ":"], { ...account, stdio: "ignore", timeout: 5_000 });
  return tried.status === null ? null : tried.status === 0 || tried.status >= NOT_STARTED;
}

function hasUserNamespaces(): boolean {
  const read = (name: string): string | null => readText(`/proc/sys/${name}`);
  return (
    Number(read("user/max_user_namespaces") ?? 0) > 0 &&
    read("kernel/unprivileged_userns_clone") !== "0" &&
    (read("kernel/apparmor_restrict_unprivileged_userns") ?? "0") === "0"
  );
}

/** CAP_SYS_ADMIN (capability.h), which the setuid sandbox makes its namespaces with. */
const SYS_ADMIN = 1n << 21n;

/** Reports whether the program of Chromium's setuid sandbox is there, and whether this process may gain privileges by it. */
function hasSetuidSandbox(executable: string): boolean {
  const status = readText("/proc/self/status") ?? "";
  const bounding = /^CapBnd:\s+([0-9a-f]{1,16})$/m.exec(status)?.[1];
  const isAllowed =
    !/^NoNewPrivs:\s+1$/m.test(status) && (bounding === undefined || (BigInt(`0x${bounding}`) & SYS_ADMIN) !== 0n);
  const folders = [dirname(realpathSync(executable)), ...SANDBOX_FOLDERS];
  return isAllowed && folders.some((folder) => isSetuidOfRoot(join(folder, "chrome-sandbox")));
}

function isSetuidOfRoot(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && found.uid === 0 && (found.mode & SETUID) !== 0;
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return null;
  }
}
