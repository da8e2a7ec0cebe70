import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { LEASH } from "#shared/client/programs.ts";
import { readLastLine, openLog, rotateLog } from "#shared/client/up/log-file.ts";
import type { ProcessTable } from "#shared/client/up/process-table.ts";

/** One process of the all-in-one start. */
interface ChildOptions {
  /** The name in messages: "control plane". */
  readonly name: string;
  /** Its main.ts. */
  readonly entry: string;
  /** Called before each start. */
  readonly environment: () => Promise<Readonly<Record<string, string | undefined>>>;
  readonly logFile: string;
  readonly processes: ProcessTable;
  /** Prints a line on the terminal. */
  readonly say: (line: string) => void;
  /** Time between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number;
}

/** A child process that is restarted whenever it dies. */
export interface Child {
  /** Resolves with a line that contains the last log line if the child exits before `keep` is called. */
  readonly failed: Promise<string>;
  /** From now on, restart the child whenever it exits. */
  keep(): void;
  /** Sends SIGTERM, and SIGKILL after the grace period; resolves when the child has exited. */
  stop(): Promise<void>;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** After this uptime the restart delay is reset to the first one. */
const HEALTHY_AFTER_MS = 60_000;

/** Starts the child and restarts it until `stop`. */
export function startChild(options: ChildOptions): Child {
  const { name, logFile, say } = options;
  const stopping = new AbortController();
  const failure = Promise.withResolvers<string>();
  let kept = false;
  let delayMs = FIRST_DELAY_MS;
  rotateLog(logFile);

  async function live(): Promise<void> {
    while (!stopping.signal.aborted) {
      const healthy = setTimeout(() => (delayMs = FIRST_DELAY_MS), HEALTHY_AFTER_MS);
      const end = await runOnce(options, stopping.signal);
      clearTimeout(healthy);
      if (stopping.signal.aborted) return;
      if (!kept && end.code !== null)
        return failure.resolve(
          `the ${name} could not start: ${readLastLine(logFile).replace(/^vantage [a-z-]+: /, "") || end.how}`,
        );
      say(`The ${name} ${end.how}; restarting it in ${delayMs / 1_000} s (log: ${logFile})`);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
      delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
    }
  }

  const life = live();
  return {
    failed: failure.promise,
    keep() {
      kept = true;
    },
    async stop() {
      stopping.abort();
      await life;
    },
  };
}

interface End {
  readonly code: number | null;
  /** "ended with status 1", "was killed (SIGKILL)". */
  readonly how: string;
}

/** Runs the child once, in its own process group: only the supervisor, which knows the stop order, gets Ctrl-C. */
async function runOnce(options: ChildOptions, stopping: AbortSignal): Promise<End> {
  const { entry, environment, logFile, processes, graceMs } = options;
  const given = await environment();
  const log = openLog(logFile);
  const child = spawn(process.execPath, [`--import=${LEASH}`, entry], {
    env: { ...given },
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);
  const pid = child.pid;
  if (pid !== undefined) processes.add(pid);
  let impatience: NodeJS.Timeout | undefined;
  const ask = () => {
    child.kill("SIGTERM");
    impatience = setTimeout(() => child.kill("SIGKILL"), graceMs);
  };
  if (stopping.aborted) ask();
  else stopping.addEventListener("abort", ask, { once: true });
  const end = await new Promise<End>((resolve) => {
    child.once("error", (error) => resolve({ code: 1, how: `could not be started (${error.message})` }));
    child.once("exit", (code, signal) => {
      resolve({ code, how: code === null ? `was killed (${signal})` : `ended with status ${code}` });
    });
  });
  clearTimeout(impatience);
  stopping.removeEventListener("abort", ask);
  if (pid !== undefined) processes.remove(pid);
  return end;
}
