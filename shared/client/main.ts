// Entry point of the command, started by deploy/vantage or npm. Only this file of the client reads the environment.
import { createInput } from "#shared/client/input.ts";
import { createProgram } from "#shared/client/program.ts";
import { join } from "node:path";
import { isatty } from "node:tty";
import { CLONE } from "#shared/client/programs.ts";
import type { Environment } from "#shared/settings-parse.ts";

// A reader of the output may close it early (`deploy/vantage keys list | head`, a closed terminal): that is no error.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

const program = createProgram({
  environment: withDataDirectory(process.env),
  directory: process.cwd(),
  now: () => new Date(),
  say: (text) => process.stdout.write(`${text}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
  exit: (status) => {
    process.exitCode = status;
  },
  input: createInput(() => process.stdin, process.stderr),
  isTerminal: isatty(1),
  write: (bytes) => process.stdout.write(bytes),
});
await program.parseAsync(process.argv);

/**
 * Sets VANTAGE_DATA_DIR to the clone's `.vantage` if it is unset, so that the command finds the data of `npm start` from
 * any working directory.
 */
function withDataDirectory(environment: Environment): Environment {
  const given = environment["VANTAGE_DATA_DIR"]?.trim() ?? "";
  return given === "" ? { ...environment, VANTAGE_DATA_DIR: join(CLONE, ".vantage") } : environment;
}
