// Entry point of the command, started by deploy/vantage or npm. Only this file of the client reads the environment.
import { explainUnwritten } from "#shared/client/call.ts";
import { createInput } from "#shared/client/input.ts";
import { runCommandLine } from "#shared/client/program.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { NO_SERVICE } from "#shared/client/exit-codes.ts";
import { useProxies } from "#shared/client/proxies.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { join } from "node:path";
import { inspect } from "node:util";
import { CLONE } from "#shared/client/programs.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

// A reader of the output may close it early (`deploy/vantage keys list | head`, a closed terminal): that is no error.
process.stderr.on("error", () => {});
process.stdout.on("error", (error) => {
  if (describeError(error) === "EPIPE") return;
  context.complain(`vantage: ${explainUnwritten(error)}`);
  process.exitCode = NO_SERVICE;
});
useProxies(process.env);

const context: CommandContext = {
  environment: withDataDirectory(process.env),
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
await runCommandLine(context, process.argv.slice(2)).catch((error: unknown) => {
  // A fault of the command is not a bad target, which would be status 1.
  context.complain(inspect(error));
  context.exit(NO_SERVICE);
});

/**
 * Sets VANTAGE_DATA_DIR to the clone's `.vantage` if it is unset, so that the command finds the data of `npm start` from
 * any working directory.
 */
function withDataDirectory(environment: Environment): Environment {
  const given = environment["VANTAGE_DATA_DIR"]?.trim() ?? "";
  return given === "" ? { ...environment, VANTAGE_DATA_DIR: join(CLONE, ".vantage") } : environment;
}
