import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeDirectory } from "#shared/process/directory.ts";
import { startTimeOf } from "#shared/process/start-time.ts";

/** The locked folder of an agent. It keeps the identity across restarts. */
export interface AgentState {
  readonly folder: string;
  /** Notes that a control plane has accepted this version: the script that installs agents waits for it. */
  noteAttached(version: string): void;
  /** Removes the lock. */
  release(): void;
}

/** The folder, or an error line for the operator. */
type OpenedState = { readonly ok: true; readonly state: AgentState } | { readonly ok: false; readonly line: string };

/** Opens and locks a state folder. Creates it if it is missing. `pid` is this process's id. */
export function openState(folder: string, pid: number): OpenedState {
  try {
    makeDirectory(resolve(folder));
  } catch (error) {
    return { ok: false, line: `VANTAGE_STATE_DIR ${folder} is not writable: ${codeOf(error)}` };
  }
  const lock = join(folder, "lock");
  const holder = takeLock(lock, pid);
  if (holder !== null) {
    const line = `${folder} is in use by process ${holder}: set a separate VANTAGE_STATE_DIR for each agent of a region`;
    return { ok: false, line };
  }
  return {
    ok: true,
    state: {
      folder,
      noteAttached(version) {
        try {
          writeFileSync(join(folder, "attached"), version, { mode: 0o600 });
        } catch {
          // A full disk does not stop the work of an agent.
        }
      },
      release: () => rmSync(lock, { force: true }),
    },
  };
}

/**
 * Takes the lock, also from a process that has ended. Returns the pid of the running holder, or null if the lock was
 * taken.
 */
function takeLock(lock: string, pid: number): number | null {
  const mine = `${pid} ${startTimeOf(pid) ?? ""}`;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      const file = openSync(lock, "wx", 0o600);
      writeFileSync(file, mine);
      closeSync(file);
      return null;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const [holder = "", startedAt = ""] = readFileSync(lock, "utf8").split(" ");
    if (startTimeOf(Number(holder)) === startedAt) return Number(holder);
    rmSync(lock, { force: true });
  }
  return 0;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
