import { spawn } from "node:child_process";
import { closeSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openLog, rotateLog } from "#shared/client/up/log-file.ts";
import type { Account } from "#shared/process/system-account.ts";
import { runAs } from "#shared/client/up/postgres/initialise.ts";
import { readPidFile, worksIn } from "#shared/client/up/postgres/pid-file.ts";
import type { Problem } from "#shared/client/up/problem.ts";

/** A running server, started by this process or taken over. */
export interface Server {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<void>;
}

/** Crash recovery after a power cut can take minutes; a healthy start takes 0.05 s. */
const READY_WITHIN_MS = 300_000;

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === "object" && address ? address.port : 0;
}

/** Returns the last error of a server log, for an error message. */
function findLastError(log: string): string {
  const lines = log.trim().split("\n");
  return (lines.findLast((line) => /FATAL|PANIC|error/.test(line)) ?? lines.at(-1) ?? "").replace(
    /^.*?(?=FATAL|PANIC)/,
    "",
  );
}

async function processEnd(pid: number, data: string): Promise<void> {
  // The process is not a child of this one, so there is no exit event: poll.
  while (worksIn(pid, data)) await sleep(200, undefined, { ref: false });
}

/** Wraps a server that an earlier run left. */
export function adoptedServer(pid: number, port: number, data: string): Server {
  return { pid, port, exited: processEnd(pid, data) };
}

/**
 * Starts the server on a port of 127.0.0.1, in its own process group (Ctrl-C must reach it last), with its log in a
 * file (a pipe would break when the supervisor is killed). The server is ready when postmaster.pid has its pid and "ready".
 */
export async function startServer(options: {
  root: string;
  native: string;
  account: Account | null;
  settings: Readonly<Record<string, string>>;
  port: number;
}): Promise<{ ok: true; server: Server } | Problem> {
  const { root, native, account, settings, port } = options;
  const data = join(root, "data");
  const logFile = join(root, "postgres.log");
  const all = { listen_addresses: "127.0.0.1", port: String(port), unix_socket_directories: "", ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  rotateLog(logFile);
  const log = openLog(logFile);
  const child = spawn(join(native, "bin", "postgres"), ["-D", data, ...flags], {
    ...runAs(account),
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const ended = new AbortController();
  const exited = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      ended.abort(reason);
      resolve();
    };
    child.once("error", (error) => end(error.message));
    child.once("exit", () => end(findLastError(readFileSync(logFile, "utf8"))));
  });
  for (let waited = 0; waited < READY_WITHIN_MS && !ended.signal.aborted; waited += 20) {
    const found = readPidFile(data);
    if (found?.pid === child.pid && found?.ready) return { ok: true, server: { pid: found.pid, port, exited } };
    await Promise.race([sleep(20), exited]);
  }
  child.kill("SIGQUIT");
  return {
    ok: false,
    line: `the embedded PostgreSQL did not start (${String(ended.signal.reason ?? "no answer")}); log: ${logFile}`,
  };
}

/** Stops a server with SIGINT (fast shutdown), and with SIGQUIT after 20 s. */
export async function stopServer(server: Server): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(server.pid, name);
    } catch {
      // The process has already ended.
    }
  };
  signal("SIGINT");
  const patience = new AbortController();
  const late = sleep(20_000, "late", { signal: patience.signal }).catch(() => null);
  if ((await Promise.race([server.exited, late])) === "late") signal("SIGQUIT");
  patience.abort();
  await server.exited;
}
