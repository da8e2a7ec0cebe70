import type { Command } from "commander";
import { enableCompileCache, getCompileCacheDir } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { become } from "#shared/client/become.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { addSettingFlags, withFlags } from "#shared/client/flags.ts";
import { AGENT_MEMORY, CONTROL_PLANE_MEMORY, withMemory } from "#shared/client/process-memory.ts";
import { END_WITH_PARENT, explainMissing, PROGRAMS } from "#shared/client/programs.ts";
import { openDataDirectory } from "#shared/client/up/data-directory.ts";
import { PLAN_VARIABLE, planProgram, type Plan } from "#shared/client/up/plan.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { formatAddress, ownAddress } from "#shared/settings/address.ts";
import { SETTING_ROWS, readSettings, type Environment } from "#shared/settings/settings-parse.ts";
import type { Settings } from "#shared/settings/settings.ts";

const SUPERVISOR = fileURLToPath(new URL("../up/supervisor.ts", import.meta.url));

/** Options of an all-in-one start. */
interface UpOptions {
  readonly environment: Environment;
  /** The base of a relative data directory. */
  readonly directory: string;
  /** The programs to run. */
  readonly entries: { readonly controlPlane: string; readonly agent: string };
}

/** Adds `deploy/vantage up`, which runs everything on this machine; `npm start` calls it. */
export function addUp(program: Command, context: CommandContext): void {
  const up = program
    .command("up")
    .description("run PostgreSQL (unless DATABASE_URL is set), the control plane and a local agent on this machine");
  addSettingFlags(up, SETTING_ROWS).action(async (flags: Record<string, unknown>) => {
    const environment = withFlags(context.environment, SETTING_ROWS, flags);
    const failed = await runUp({ environment, directory: context.directory, entries: PROGRAMS });
    context.complain(`vantage: ${failed.line}`);
    context.exit(1);
  });
}

/**
 * Runs embedded PostgreSQL (unless DATABASE_URL is set), control plane and local agent: this process becomes the
 * supervisor, which for its whole life has few modules. Returns if there is a problem.
 */
export async function runUp(options: UpOptions): Promise<Problem> {
  const made = makePlan(options);
  if (!made.ok) return made;
  const { environment } = options;
  const { plan } = made;
  if (getCompileCacheDir() === undefined) enableCompileCache(join(plan.dataDirectory, "compile-cache"));
  // Compiles the supervisor. With the compiled code it needs no compiler of types, which would take 15 MB for ever.
  await import("#shared/client/up/supervisor.ts");
  const cache = getCompileCacheDir();
  become(SUPERVISOR, [], {
    ...environment,
    // Node adds a directory of its version.
    ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: environment["NODE_COMPILE_CACHE"] ?? dirname(cache) }),
    [PLAN_VARIABLE]: JSON.stringify(plan),
  });
  return problem("up needs execve(2), which this system's Node.js does not have");
}

function makePlan({ environment, directory, entries }: UpOptions): { ok: true; plan: Plan } | Problem {
  const missing = explainMissing(entries.controlPlane);
  if (missing !== null) return problem(missing);
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return read;
  const agentSettings = readSettings(environment, "agent");
  if (!agentSettings.ok) return agentSettings;
  const { settings } = read;
  const dataDirectory = resolve(directory, settings.dataDir);
  const opened = openDataDirectory(dataDirectory);
  if (!opened.ok) return opened;
  const ofControlPlane = controlPlaneEnvironment(environment, dataDirectory);
  const ofAgent = agentEnvironment(environment, dataDirectory, settings);
  const preload = `--import=${END_WITH_PARENT}`;
  return {
    ok: true,
    plan: {
      dataDirectory,
      listeners: [
        ["VANTAGE_HTTP_ADDR", settings.httpAddr],
        ["VANTAGE_GRPC_ADDR", settings.grpcAddr],
      ],
      isDatabaseGiven: settings.databaseUrl !== null,
      controlPlane: planProgram(
        [preload, entries.controlPlane, ...(settings.databaseUrl === null ? ["embedded"] : [])],
        environment,
        ofControlPlane,
      ),
      agent: planProgram([preload, entries.agent], environment, ofAgent),
    },
  };
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

/** Builds the control plane's environment: the caller's, and no secret of the agent. */
function controlPlaneEnvironment(environment: Environment, dataDirectory: string): Environment {
  const rest = without(environment, "control-plane");
  const cache = compileCache(environment, dataDirectory);
  return { ...withMemory(rest, CONTROL_PLANE_MEMORY), ...cache, VANTAGE_DATA_DIR: dataDirectory };
}

/** Builds the local agent's environment: the caller's, the address to dial, and no secret of the control plane. */
function agentEnvironment(environment: Environment, dataDirectory: string, settings: Settings): Environment {
  const rest = without(environment, "agent");
  const dial = environment["VANTAGE_CONTROL_PLANE"]?.trim() || formatAddress(ownAddress(settings.grpcAddr));
  const cache = compileCache(environment, dataDirectory);
  return { ...withMemory(rest, AGENT_MEMORY), ...cache, VANTAGE_DATA_DIR: dataDirectory, VANTAGE_CONTROL_PLANE: dial };
}
