import { spawn } from "node:child_process";
import { constants } from "node:os";
import { onNpmGone } from "#shared/client/npm-parent.ts";
import { LEASH } from "#shared/client/programs.ts";
import type { Environment } from "#shared/settings-parse.ts";

/**
 * Runs one of the programs in the foreground with this process's standard streams and forwards signals to it. It ends
 * with this process, also after SIGKILL. Returns the status as a shell does: the program's own, or 128 plus the number of
 * the signal that killed it.
 */
export function runProgram(entry: string, words: readonly string[], environment: Environment): Promise<number> {
  const child = spawn(process.execPath, [`--import=${LEASH}`, entry, ...words], {
    env: { ...environment },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  onNpmGone(environment, () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
