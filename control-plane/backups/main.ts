// The program of the commands backup, restore and rotate: environment -> config -> one file or database. It has none of the
// modules of a service, beside which it runs, or which must not run.
import { randomBytes } from "node:crypto";
import { runBackupCommand } from "#control-plane/backups/command.ts";
import { readConfig } from "#control-plane/core/config.ts";

const [command, ...words] = process.argv.slice(2);
const stop = new AbortController();
// The others have nothing to clean up: a signal ends them at once, also while they wait for a file, and their transaction with
// them.
if (command === "backup") {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
}
process.exitCode = await run();

async function run(): Promise<number> {
  if (command !== "backup" && command !== "restore" && command !== "rotate") {
    return complain(`${command} is no command of backup, restore and rotate`, 2);
  }
  const read = readConfig(process.env);
  if (!read.ok) return complain(read.line, 2);
  const random = { bytes: (count: number) => randomBytes(count) };
  const { status, line } = await runBackupCommand({ command, words, config: read.config, random, signal: stop.signal });
  if (status !== 0) return complain(line, status);
  process.stdout.write(`${line}\n`);
  return 0;
}

/** Prints one line for the operator, and returns the status. */
function complain(line: string, status: number): number {
  process.stderr.write(`vantage ${command}: ${line}\n`);
  return status;
}
