// Entry point of the command, started by deploy/vantage or npm. Of the client, only this file and the programs of `up`
// read the environment.
// What every command line needs is loaded here, the rest by shared/client/program.ts, from compiled code where it is kept.
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import type { CommandContext } from "#shared/client/context.ts";
import { createInput } from "#shared/client/input.ts";
import { CLONE } from "#shared/client/programs.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

const environment = withDataDirectory(process.env);
keepCompiledCode(environment);
const [{ runCommandLine }, { NO_SERVICE }, { describeError }, { useProxies }] = await Promise.all([
  import("#shared/client/program.ts"),
  import("#shared/client/exit-codes.ts"),
  import("#shared/contracts/error-code.ts"),
  import("#shared/client/proxies.ts"),
]);

// A reader of the output may close it early (`deploy/vantage keys list | head`, a closed terminal): that is no error.
process.stderr.on("error", () => {});
process.stdout.on("error", (error) => {
  if (describeError(error) === "EPIPE") return;
  process.exitCode = NO_SERVICE;
  void complainUnwritten(error);
});
useProxies(process.env);

const context: CommandContext = {
  environment,
  directory: process.cwd(),
  now: () => new Date(),
  say: (text) => process.stdout.write(`${text}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
  exit: (status) => {
    process.exitCode = status;
  },
  input: createInput(() => process.stdin, process.stderr),
  output: {
    isTerminal: process.stdout.isTTY,
    columns: process.stdout.isTTY ? process.stdout.columns : null,
    write: (text) => process.stdout.write(`${text}\n`),
  },
  stdout: process.stdout,
  stderr: process.stderr,
};
await runCommandLine(context, process.argv.slice(2)).catch(async (error: unknown) => {
  // A fault of the command is not a bad target, which would be status 1.
  const { inspect } = await import("node:util");
  context.complain(inspect(error));
  context.exit(NO_SERVICE);
});

async function complainUnwritten(error: Error): Promise<void> {
  const { explainUnwritten } = await import("#shared/client/call.ts");
  context.complain(`vantage: ${explainUnwritten(error)}`);
}

/**
 * Sets VANTAGE_DATA_DIR to the clone's `.vantage` if it is unset, so that the command finds the data of `npm start` from
 * any working directory.
 */
function withDataDirectory(given: Environment): Environment {
  const directory = given["VANTAGE_DATA_DIR"]?.trim() ?? "";
  return directory === "" ? { ...given, VANTAGE_DATA_DIR: join(CLONE, ".vantage") } : given;
}

/**
 * Keeps compiled code in the data directory, or in the user's cache directory where there is none: nobody else can write
 * to either. Failures are ignored: the command is slower then.
 */
function keepCompiledCode(settings: Environment): void {
  const { VANTAGE_DATA_DIR: data = "", XDG_CACHE_HOME: cache = "", HOME: home = "" } = settings;
  if (existsSync(data)) enableCompileCache(join(data, "compile-cache"));
  else if (cache.startsWith("/")) enableCompileCache(join(cache, "vantage"));
  else if (home.startsWith("/")) enableCompileCache(join(home, ".cache/vantage"));
}
