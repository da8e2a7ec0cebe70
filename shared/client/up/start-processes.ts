import { join, resolve } from "node:path";
import { stateDirOf, IDENTITY_ENTRY } from "#shared/settings/agent-state.ts";
import { listenerUrl, formatAddress, ownAddress } from "#shared/settings/address.ts";
import { readAdminToken } from "#shared/client/up/admin-token.ts";
import { boundLogs, readLastLine, openLog, rotateLog } from "#shared/client/up/log-file.ts";
import type { Ground, Undo } from "#shared/client/up/options.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { sayWelcome } from "#shared/client/up/welcome.ts";
import { AGENT_MEMORY, CONTROL_PLANE_MEMORY, withMemory } from "#shared/client/process-memory.ts";
import { SETTING_ROWS, type Environment } from "#shared/settings/settings-parse.ts";
import type { Settings } from "#shared/settings/settings.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { callService, field } from "#shared/client/call.ts";
import { X509Certificate } from "node:crypto";
import { readFileSync, closeSync } from "node:fs";
import { spawn } from "node:child_process";
import { END_WITH_PARENT } from "#shared/client/programs.ts";
import type { ProcessTable } from "#shared/client/up/process-table.ts";

/** An agent drains for up to 30 s; the control plane finishes its requests. Milliseconds. */
const GRACE_MS = 35_000;

/** Readiness waits at most 30 s for an agent; a longer wait indicates a fault. Milliseconds. */
const LATE_AFTER_MS = 40_000;

const EVERY_MS = 100;

/** Inputs for a local agent's join token. */
interface LocalAgent {
  /** The control plane's own listener. */
  readonly base: string;
  readonly adminToken: string;
  readonly region: string;
  /** The directory of the agent's identity. */
  readonly stateDir: string;
}

/** An agent enrols within seconds of its start, so a short-lived token is enough. */
const TTL_SECONDS = 600;

/** Starts control plane and agent, waits until the service is ready, and prints how to use it. */
export async function startProcesses(ground: Ground, undo: Undo): Promise<{ ok: true } | Problem> {
  const { environment, entries, settings, dataDirectory, processes, database, say, stop } = ground;
  const own = listenerUrl(settings.httpAddr, settings.tlsCert !== null);
  const logs = { controlPlane: join(dataDirectory, "control-plane.log"), agent: join(dataDirectory, "agent.log") };
  const common = { processes, say, graceMs: GRACE_MS };

  const controlPlane = startChild({
    ...common,
    name: "control plane",
    entry: entries.controlPlane,
    environment: () => Promise.resolve(controlPlaneEnvironment(environment, dataDirectory, database.url)),
    logFile: logs.controlPlane,
  });
  undo.push(() => controlPlane.stop());
  const alive = await unlessFailed([controlPlane], stop, (signal) => waitFor(`${own}/healthz`, signal));
  if (!alive.ok || stop.aborted) return alive;

  // Start the agent only after the control plane listens: a failed first attempt would wait for its back-off.
  const agent = startChild({
    ...common,
    name: "agent",
    entry: entries.agent,
    environment: async () => ({
      ...agentEnvironment(environment, dataDirectory, settings),
      ...(await joinToken(ground, own)),
    }),
    logFile: logs.agent,
  });
  undo.push(() => agent.stop());
  const late = setTimeout(() => say(`Not ready yet: see ${Object.values(logs).join(" and ")}`), LATE_AFTER_MS);
  const ready = await unlessFailed([controlPlane, agent], stop, (signal) => waitFor(`${own}/readyz`, signal));
  clearTimeout(late);
  if (!ready.ok || stop.aborted) return ready;
  controlPlane.keep();
  agent.keep();
  const unbound = boundLogs(Object.values(logs));
  undo.push(() => Promise.resolve(unbound()));
  await sayWelcome(ground, own, logs, ready.value?.degraded ?? []);
  return { ok: true };
}

/** Creates the local agent's join token; only the agent's process gets it. */
async function joinToken(ground: Ground, base: string): Promise<Record<string, string>> {
  const { settings, agentSettings, dataDirectory, directory } = ground;
  const { region, stateDir, joinToken: given, joinTokenFile } = agentSettings;
  const adminToken = readAdminToken(settings, dataDirectory);
  if (given !== null || joinTokenFile !== null || adminToken === null) return {};
  const folder = resolve(directory, stateDirOf({ stateDir, region, dataDir: dataDirectory }));
  const token = await makeJoinToken({ base, adminToken, region, stateDir: folder }).catch(() => null);
  return token === null ? {} : { VANTAGE_JOIN_TOKEN: token };
}

/** Waits for `wait`, or for the first child that fails to start. */
async function unlessFailed<T>(
  children: readonly Child[],
  stop: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<{ ok: true; value: T } | Problem> {
  const given = new AbortController();
  const waiting = wait(AbortSignal.any([stop, given.signal])).then((value) => ({ ok: true as const, value }));
  const failures = children.map((child) => child.failed.then(problem));
  const first = await Promise.race([waiting, ...failures]);
  given.abort();
  return first;
}

function without(environment: Environment, process: "control-plane" | "agent"): Record<string, string | undefined> {
  const others = SETTING_ROWS.filter((row) => row.secret && row.process !== process && row.process !== "both");
  const hidden = new Set(others.map((row) => row.name));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !hidden.has(name)));
}

/** Keeps compiled code between starts: a second start takes two thirds of the time (measured: 1.7 s instead of 2.5 s). */
function compileCache(environment: Environment, dataDirectory: string) {
  return { NODE_COMPILE_CACHE: environment["NODE_COMPILE_CACHE"] ?? join(dataDirectory, "compile-cache") };
}

/** Builds the control plane's environment: the caller's, the database, and no secret of the agent. */
function controlPlaneEnvironment(environment: Environment, dataDirectory: string, databaseUrl: string) {
  const rest = without(environment, "control-plane");
  const cache = compileCache(environment, dataDirectory);
  return {
    ...withMemory(rest, CONTROL_PLANE_MEMORY),
    ...cache,
    DATABASE_URL: databaseUrl,
    VANTAGE_DATA_DIR: dataDirectory,
  };
}

/** Builds the local agent's environment: the caller's, the address to dial, and no secret of the control plane. */
function agentEnvironment(environment: Environment, dataDirectory: string, settings: Settings) {
  const rest = without(environment, "agent");
  const dial = environment["VANTAGE_CONTROL_PLANE"]?.trim() || formatAddress(ownAddress(settings.grpcAddr));
  const cache = compileCache(environment, dataDirectory);
  return { ...withMemory(rest, AGENT_MEMORY), ...cache, VANTAGE_DATA_DIR: dataDirectory, VANTAGE_CONTROL_PLANE: dial };
}

/** Waits until a URL of the control plane's own listener answers 200; null if the signal was aborted first. */
async function waitFor(url: string, signal: AbortSignal): Promise<{ degraded: readonly string[] } | null> {
  while (!signal.aborted) {
    const answer = await callService(url, { own: true, timeoutMs: 2_000 }).catch(() => null);
    if (answer?.status === 200) {
      const degraded = field(answer.body, "degraded");
      return { degraded: Array.isArray(degraded) ? degraded.map(String) : [] };
    }
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
  }
  return null;
}

/**
 * Creates a one-time join token for an agent that is not enrolled with this control plane: it has no identity, or one of
 * another authority, for example after a change of database. null: the agent needs no token, or the control plane
 * issued none; the agent then reports the failure.
 */
async function makeJoinToken({ base, adminToken, region, stateDir }: LocalAgent): Promise<string | null> {
  const json = { region, ttl_seconds: TTL_SECONDS };
  const made = await callService(`${base}/api/admin/probe-tokens`, {
    method: "POST",
    token: adminToken,
    json,
    own: true,
  });
  const token = field(field(made.body, "data"), "token");
  if (made.status !== 201 || typeof token !== "string") return null;
  return token.endsWith(`_${authorityOf(stateDir)}`) ? null : token;
}

/** Returns the SHA-256 of an identity's authority certificate, in hex as in join tokens; null if it is unreadable. */
function authorityOf(stateDir: string): string | null {
  try {
    const { fingerprint256 } = new X509Certificate(readFileSync(join(stateDir, IDENTITY_ENTRY, "ca.pem")));
    return fingerprint256.replaceAll(":", "").toLowerCase();
  } catch {
    return null;
  }
}

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
  const { entry, environment, logFile, processes, graceMs } = options;
  const given = await environment();
  const log = openLog(logFile);
  const child = spawn(process.execPath, [`--import=${END_WITH_PARENT}`, entry], {
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
