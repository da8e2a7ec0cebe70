import type { Command } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { addSettingFlags, withFlags } from "#shared/client/flags.ts";
import { PROGRAMS } from "#shared/client/programs.ts";
import { onNpmGone } from "#shared/client/npm-parent.ts";
import { SETTING_ROWS, readSettings } from "#shared/settings/settings-parse.ts";
import { resolve } from "node:path";
import { whenAborted } from "#shared/client/up/aborted.ts";
import { openDataDirectory } from "#shared/client/up/data-directory.ts";
import { embeddedDatabase, externalDatabase } from "#shared/client/up/database.ts";
import type { Undo, UpOptions } from "#shared/client/up/options.ts";
import { checkListener } from "#shared/client/up/ports.ts";
import { type Problem, problem } from "#shared/client/up/problem.ts";
import { openProcessTable } from "#shared/client/up/process-table.ts";
import { startProcesses } from "#shared/client/up/start-processes.ts";
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer } from "node:net";

/** Adds `deploy/vantage up`, which runs everything on this machine; `npm start` calls it. */
export function addUp(program: Command, context: CommandContext): void {
  const up = program
    .command("up")
    .description("run PostgreSQL (unless DATABASE_URL is set), the control plane and a local agent on this machine");
  addSettingFlags(up, SETTING_ROWS).action(async (flags: Record<string, unknown>) => {
    const stop = new AbortController();
    // Under npm, Ctrl-C arrives twice; a second abort has no effect.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
    onNpmGone(context.environment, () => stop.abort());
    const status = await runUp({
      environment: withFlags(context.environment, SETTING_ROWS, flags),
      directory: context.directory,
      entries: PROGRAMS,
      say: context.say,
      isTerminal: context.output.isTerminal,
      complain: context.complain,
      stop: stop.signal,
    });
    context.exit(status);
  });
}

/**
 * Runs embedded PostgreSQL (unless DATABASE_URL is set), control plane and local agent until `stop`, then stops them in
 * the order agent, control plane, PostgreSQL. Returns the exit status: 1 after a problem, which was printed.
 */
export async function runUp(options: UpOptions): Promise<0 | 1> {
  const undo: Undo = [];
  try {
    const up = await bringUp(options, undo);
    if (!up.ok) {
      options.complain(`vantage: ${up.line}`);
      return 1;
    }
    await whenAborted(options.stop);
    return 0;
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

async function bringUp(options: UpOptions, undo: Undo): Promise<{ ok: true } | Problem> {
  const { environment, say, stop } = options;
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return read;
  const agentSettings = readSettings(environment, "agent");
  if (!agentSettings.ok) return agentSettings;
  const { settings } = read;

  const dataDirectory = resolve(options.directory, settings.dataDir);
  const opened = openDataDirectory(dataDirectory);
  if (!opened.ok) return opened;
  const lock = await lockDataDirectory(dataDirectory);
  if (!lock.ok) return lock;
  undo.push(() => lock.release());
  const processes = openProcessTable(dataDirectory);
  if ((await processes.endLeftovers()) > 0) say("Stopped processes that an earlier run had left.");
  for (const [name, address] of [
    ["VANTAGE_HTTP_ADDR", settings.httpAddr],
    ["VANTAGE_GRPC_ADDR", settings.grpcAddr],
  ] as const) {
    const free = await checkListener(name, address);
    if (!free.ok) return free;
  }

  const { databaseUrl } = settings;
  say(
    databaseUrl === null
      ? "Starting PostgreSQL, the control plane and an agent ..."
      : "Starting the control plane and an agent ...",
  );
  const opening = databaseUrl === null ? embeddedDatabase(dataDirectory, say) : externalDatabase(databaseUrl);
  const database = await opening;
  if (!database.ok) return database;
  undo.push(() => database.database.stop());
  if (stop.aborted) return { ok: true };
  return startProcesses(
    {
      ...options,
      settings,
      agentSettings: agentSettings.settings,
      dataDirectory,
      processes,
      database: database.database,
    },
    undo,
  );
}

/**
 * Locks a data directory for one supervisor. The lock is an abstract Unix socket, which the kernel removes when the
 * process ends for any reason, so that no stale lock remains.
 */
async function lockDataDirectory(path: string): Promise<{ ok: true; release(): Promise<void> } | Problem> {
  const name = createHash("sha256").update(realpathSync(path)).digest("hex").slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((listening, reject) => {
      server.once("error", reject).listen({ path: `\0vantage-up-${name}` }, listening);
    });
  } catch {
    return problem(
      `Vantage is already running on ${path}: stop it first, or set VANTAGE_DATA_DIR to another directory`,
    );
  }
  server.unref();
  return {
    ok: true,
    release: () =>
      new Promise((closed) => {
        server.close(() => closed());
      }),
  };
}
