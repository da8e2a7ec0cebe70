// Entry point of the command, started by deploy/vantage or npm. Only this file of the client reads the environment.
import { withDataDirectory } from "#shared/client/data-directory.ts";
import { createProgram } from "#shared/client/program.ts";

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
});
await program.parseAsync(process.argv);
