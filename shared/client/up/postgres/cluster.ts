import {
  existsSync,
  readFileSync,
  realpathSync,
  rmSync,
  chmodSync,
  lstatSync,
  readdirSync,
  renameSync,
  closeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { databaseAccount, type Account, canUse } from "#shared/process/system-account.ts";
import { locateBinaries, type Binaries } from "#shared/client/up/postgres/binaries.ts";
import { initialise, makeClusterDirectory, readPassword, ROLE, runAs } from "#shared/client/up/postgres/initialise.ts";
import { anyoneWorksIn, readPidFile, worksIn } from "#shared/client/up/postgres/pid-file.ts";
import { serverSettings, usableMemory } from "#shared/client/up/postgres/settings.ts";
import { lockDirectory, type Release } from "#shared/client/up/directory-lock.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { cp } from "node:fs/promises";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { openLog, rotateLog } from "#shared/client/up/log-file.ts";

/** A running embedded PostgreSQL that this process manages. */
export interface Cluster {
  /** True if the server was left by an earlier run and taken over. */
  readonly adopted: boolean;
  readonly server: Server;
  /** Returns the connection URL of a database. It contains the password: never print it. */
  url(database: string): string;
  createDatabase(name: string): Promise<void>;
  /** Stops the server, which closes its open connections. */
  stop(): Promise<void>;
}

/** A running cluster, or the problem that prevented the start. */
type ClusterStart = { ok: true; cluster: Cluster } | Problem;

/** `root`: an absolute directory for data, password and log. `settings`: postgres parameters, which take precedence. `initdb`: more of its flags. */
interface ClusterOptions {
  readonly root: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly initdb?: readonly string[];
  /** The port to listen on, for a restart under a URL already in use; default: a free port. */
  readonly port?: number;
}

/** Finds the server that an earlier run left in this data directory; removes a pid file of an unrelated process. */
async function findOrphan(data: string): Promise<Server | null> {
  const found = readPidFile(data);
  if (!found) return null;
  if (!worksIn(found.pid, data)) {
    // After a reboot the pid may belong to another program, and PostgreSQL would refuse to start.
    if (!anyoneWorksIn(data)) rmSync(join(data, "postmaster.pid"), { force: true });
    return null;
  }
  for (;;) {
    const now = readPidFile(data);
    if (!now || !worksIn(now.pid, data)) return null;
    if (now.ready) return adoptedServer(now.pid, now.port, data);
    await sleep(50);
  }
}

function wrongVersion(data: string, major: string): string | null {
  const version = readFileSync(join(data, "PG_VERSION"), "utf8").trim();
  if (version === major) return null;
  return `the database in ${data} is of PostgreSQL ${version}, but this Vantage includes PostgreSQL ${major}: dump it with PostgreSQL ${version}, or set DATABASE_URL`;
}

function clusterOf(server: Server, adopted: boolean, release: Release, password: string): Cluster {
  const url = (database: string) => urlOf(password, server.port, database);
  return {
    adopted,
    server,
    url,
    async createDatabase(name) {
      // Not loaded with this file: the supervisor leaves it to its helper.
      const { createDatabase } = await import("#shared/client/up/postgres/store.ts");
      await createDatabase(url("postgres"), name);
    },
    async stop() {
      await stopServer(server);
      await release();
    },
  };
}

function urlOf(password: string, port: number, database: string): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
}

/** Returns the URL of a database of the server that runs in a directory; null if none does, or this user cannot use it. */
export function runningUrl(root: string, database: string): string | null {
  const found = readPidFile(join(root, "data"));
  if (found?.ready !== true) return null;
  try {
    return urlOf(readPassword(root), found.port, database);
  } catch {
    return null;
  }
}

/**
 * Starts the embedded PostgreSQL of a directory, creating the database on first use, or takes over the server that a
 * killed run left there. It listens on 127.0.0.1 with a password of 32 random bytes (SCRAM). A Unix socket would expose
 * less, but postgres.js accepts none in a URL, and control plane, job queue and doctor share one DATABASE_URL.
 */
export async function startCluster(options: ClusterOptions): Promise<ClusterStart> {
  const located = locateBinaries();
  if (!located.ok) return located;
  const { root } = options;
  let release: Release | null = null;
  try {
    const account = databaseAccount(join(root, "data"));
    makeClusterDirectory(root, account);
    // Two data directories can name the same one (data-directory.ts), for example after one was copied.
    release = await lockDirectory(root);
    if (release === null)
      return problem(
        `another Vantage is running on the database in ${root}: stop it, or give this one its own VANTAGE_DATA_DIR`,
      );
    const found = await findServer(options, located.binaries, account);
    if (found.ok) return { ok: true, cluster: clusterOf(found.server, found.adopted, release, readPassword(root)) };
    await release();
    return found;
  } catch (error) {
    await release?.();
    return problem(`the embedded PostgreSQL in ${root} cannot be used (${describeError(error)})`);
  }
}

async function findServer(
  options: ClusterOptions,
  binaries: Binaries,
  account: Account | null,
): Promise<{ ok: true; server: Server; adopted: boolean } | Problem> {
  const { root, settings = {} } = options;
  const native = await reachablePrograms(binaries, root, account);
  if (!existsSync(join(root, "data"))) {
    const made = await initialise({ root, native, account, extra: options.initdb ?? [] });
    if (!made.ok) return made;
  }
  const data = realpathSync(join(root, "data"));
  const wrong = wrongVersion(data, binaries.major);
  if (wrong !== null) return problem(wrong);
  const orphan = await findOrphan(data);
  if (orphan !== null) return { ok: true, server: orphan, adopted: true };
  const port = options.port ?? (await freePort());
  const started = await startServer({ root, native, account, settings, port });
  return started.ok ? { ...started, adopted: false } : started;
}

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
async function reachablePrograms(binaries: Binaries, root: string, account: Account | null): Promise<string> {
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

/** A running server, started by this process or taken over. */
interface Server {
  readonly pid: number;
  readonly port: number;
  /** Resolves when the process has ended for any reason. */
  readonly exited: Promise<void>;
}

/** Crash recovery after a power cut can take minutes; a healthy start takes 0.05 s. */
const READY_WITHIN_MS = 300_000;

/** A TCP port of 127.0.0.1 that was free a moment ago. */
async function freePort(): Promise<number> {
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
function adoptedServer(pid: number, port: number, data: string): Server {
  return { pid, port, exited: processEnd(pid, data) };
}

/**
 * Starts the server on a port of 127.0.0.1, in its own process group (Ctrl-C must reach it last), with its log in a
 * file (a pipe would break when the supervisor is killed). The server is ready when postmaster.pid has its pid and "ready".
 */
async function startServer(options: {
  root: string;
  native: string;
  account: Account | null;
  settings: Readonly<Record<string, string>>;
  port: number;
}): Promise<{ ok: true; server: Server } | Problem> {
  const { root, native, account, settings, port } = options;
  const data = join(root, "data");
  const logFile = join(root, "postgres.log");
  const listener = { listen_addresses: "127.0.0.1", port: String(port), unix_socket_directories: "" };
  const all = { ...serverSettings(usableMemory()), ...listener, ...settings };
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
async function stopServer(server: Server): Promise<void> {
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
