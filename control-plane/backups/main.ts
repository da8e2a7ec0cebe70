// The program of the commands backup and restore: environment -> config -> one file. It has none of the modules of a service,
// beside which it runs.
import { randomBytes } from "node:crypto";
import { runBackupCommand } from "#control-plane/backups/command.ts";
import { readConfig } from "#control-plane/core/config.ts";

const [command, ...words] = process.argv.slice(2);
const stop = new AbortController();
// A restore has nothing to clean up: a signal ends it at once, also while it waits for a file, and its transaction with it.
if (command !== "restore") {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
}
process.exitCode = await run();

async function run(): Promise<number> {
  if (command !== "backup" && command !== "restore") return complain(`${command} is neither backup nor restore`, 2);
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
