import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { collectGarbage } from "#shared/process/release-memory.ts";
import { whenAborted } from "#shared/client/up/aborted.ts";
import type { Database } from "#shared/client/up/database.ts";
import type { Helper } from "#shared/client/up/helper.ts";
import { boundLogs, readLastLine, openLog, rotateLog } from "#shared/client/up/log-file.ts";
import { environmentOf, type Plan } from "#shared/client/up/plan.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import type { ProcessTable } from "#shared/client/up/process-table.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

/** An agent drains for up to 30 s; the control plane finishes its requests. Milliseconds. */
const GRACE_MS = 35_000;

/** Readiness waits at most 30 s for an agent; a longer wait indicates a fault. Milliseconds. */
const LATE_AFTER_MS = 40_000;

/** Functions that stop what was started, in start order; called in reverse order. */
export type Undo = (() => Promise<void>)[];

/** What is ready before the processes start. */
export interface Ground {
  readonly plan: Plan;
  readonly environment: Environment;
  readonly processes: ProcessTable;
  readonly database: Database;
  readonly helper: Helper;
  /** Prints text on the terminal. */
  readonly say: (text: string) => void;
  /** Aborted to stop everything. */
  readonly stop: AbortSignal;
}

/** Starts control plane and agent, waits until the service is ready, and prints how to use it. */
export async function startProcesses(ground: Ground, undo: Undo): Promise<{ ok: true } | Problem> {
  const { plan, environment, processes, database, helper, say, stop } = ground;
  const { dataDirectory } = plan;
  const logs = { controlPlane: join(dataDirectory, "control-plane.log"), agent: join(dataDirectory, "agent.log") };
  const common = { processes, say, graceMs: GRACE_MS };

  const controlPlane = startChild({
    ...common,
    name: "control plane",
    words: plan.controlPlane.words,
    environment: () =>
      Promise.resolve({
        ...environmentOf(plan.controlPlane, environment),
        ...(database.url === null ? {} : { DATABASE_URL: database.url }),
      }),
    logFile: logs.controlPlane,
  });
  undo.push(() => controlPlane.stop());
  const alive = await unlessFailed([controlPlane], stop, helper.ask("awaitHealthy", null));
  if (!alive.ok || alive.value === undefined) return alive;

  // Start the agent only after the control plane listens: a failed first attempt would wait for its back-off.
  const agent = startChild({
    ...common,
    name: "agent",
    words: plan.agent.words,
    environment: async () => ({
      ...environmentOf(plan.agent, environment),
      ...(await helper.ask("joinToken", null).catch(() => ({}))),
    }),
    logFile: logs.agent,
  });
  undo.push(() => agent.stop());
  const late = setTimeout(() => say(`Not ready yet: see ${Object.values(logs).join(" and ")}`), LATE_AFTER_MS);
  const ready = await unlessFailed([controlPlane, agent], stop, helper.ask("awaitReady", null));
  clearTimeout(late);
  if (!ready.ok || ready.value === undefined) return ready;
  controlPlane.keep();
  agent.keep();
  const unbound = boundLogs(Object.values(logs));
  undo.push(() => Promise.resolve(unbound()));
  const { notes } = database;
  const isTerminal = process.stdout.isTTY;
  say(await helper.ask("welcome", { notes, degraded: ready.value, logs, isTerminal }));
  helper.release();
  collectGarbage();
  return { ok: true };
}

/** Waits for an answer, or for the first child that fails to start; undefined if `stop` was aborted before. */
async function unlessFailed<T>(
  children: readonly Child[],
  stop: AbortSignal,
  answer: Promise<T>,
): Promise<{ ok: true; value: T | undefined } | Problem> {
  const stopped = whenAborted(stop).then(() => undefined);
  const failures = children.map((child) => child.failed.then(problem));
  const waiting = Promise.race([stopped, answer]).then((value) => ({ ok: true as const, value }));
  return Promise.race([waiting, ...failures]);
}

/** One process of the all-in-one start. */
interface ChildOptions {
  /** The name in messages: "control plane". */
  readonly name: string;
  /** Arguments of Node.js. */
  readonly words: readonly string[];
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
interface Child {
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
function startChild(options: ChildOptions): Child {
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
  const { words, environment, logFile, processes, graceMs } = options;
  const given = await environment();
  const log = openLog(logFile);
  const child = spawn(process.execPath, words, {
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
  const end = await new Promise<End>((settle) => {
    child.once("error", (error) => settle({ code: 1, how: `could not be started (${error.message})` }));
    child.once("exit", (code, signal) => {
      settle({ code, how: code === null ? `was killed (${signal})` : `ended with status ${code}` });
    });
  });
  clearTimeout(impatience);
  stopping.removeEventListener("abort", ask);
  if (pid !== undefined) processes.remove(pid);
  return end;
}
