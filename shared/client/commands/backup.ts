import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Option, type Command } from "commander";
import { runChild, runProgram } from "#shared/client/commands/processes.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { NO_SERVICE } from "#shared/client/exit-codes.ts";
import { addSettingFlags, settingsOf, withFlags } from "#shared/client/flags.ts";
import { CONTROL_PLANE_MEMORY, withMemory } from "#shared/client/process-memory.ts";
import { explainMissing, PROGRAMS } from "#shared/client/programs.ts";
import { clusterDirectory, openDataDirectory } from "#shared/client/up/data-directory.ts";
import { DATABASE_NAME } from "#shared/client/up/database.ts";
import { runningUrl, startCluster } from "#shared/client/up/postgres/cluster.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

/** Settings that the commands take as flags. */
const FLAGS = new Set(["DATABASE_URL", "VANTAGE_DATA_DIR", "VANTAGE_MASTER_KEY"]);
/** A restore locks all partitions of all days at once. */
const RESTORE_SETTINGS = { max_locks_per_transaction: "1024" };
const STATUS = "(status 0: done, 2: wrong usage or no backup, 4: wrong passphrase or master key, 5: anything else)";

/** A command of the control plane's own program for its database. */
type Name = "backup" | "restore" | "rotate";

/** Adds `deploy/vantage backup` and `restore`, of the embedded database or the one of DATABASE_URL. */
export function addBackup(program: Command, context: CommandContext): void {
  const backup = program
    .command("backup")
    .argument("<file>", "file to write; one that exists is replaced when the backup is complete")
    .description(`back up the database into one file, while the service runs ${STATUS}`);
  const restore = program
    .command("restore")
    .argument("<file>", "backup")
    .description(`restore a backup, while no control plane runs ${STATUS}`)
    .option("--dry-run", "read and check the backup, and change nothing")
    .option("--yes", "replace the data that the database has")
    .option("--as-copy", "make it another installation, whose webhooks, mail and agents are inactive");
  for (const [command, name] of [
    [backup, "backup"],
    [restore, "restore"],
  ] as const) {
    const rows = settingsOf("control-plane").filter((row) => FLAGS.has(row.name));
    addSettingFlags(command, rows)
      .addOption(new Option("--passphrase-file <file>", "file whose first line encrypts the backup, as age does"))
      .action(async (file: string, flags: Record<string, unknown>) => {
        const { passphraseFile } = flags;
        const environment = {
          ...withFlags(context.environment, rows, flags),
          ...(typeof passphraseFile === "string" ? { VANTAGE_BACKUP_PASSPHRASE_FILE: passphraseFile } : {}),
        };
        const words = ["--dry-run", "--yes", "--as-copy"].filter((word) => flags[camelOf(word)] === true);
        await run(context, name, [...words, "--", file], environment);
      });
  }
}

/** Adds `deploy/vantage rotate master-key`, of the embedded database or the one of DATABASE_URL. */
export function addRotateMasterKey(rotate: Command, context: CommandContext): void {
  const rows = settingsOf("control-plane").filter((row) => FLAGS.has(row.name));
  const command = rotate
    .command("master-key")
    .description(
      "give the database a new master key, while no control plane runs; run again, it ends a rotation that was killed " +
        "(status 0: done, 2: wrong usage or no --yes, 4: wrong master key, 5: anything else)",
    )
    .option("--new-key-file <file>", "file of the new key, made if it is missing; needed if VANTAGE_MASTER_KEY is set")
    .option("--end-links", "end the links in mails of before, for a key that others know")
    .option("--yes", "do it: backups of before need the old key");
  addSettingFlags(command, rows).action(async (flags: Record<string, unknown>) => {
    const { newKeyFile } = flags;
    const words = [
      ...(typeof newKeyFile === "string" ? [`--new-key-file=${newKeyFile}`] : []),
      ...["--end-links", "--yes"].filter((word) => flags[camelOf(word)] === true),
    ];
    await run(context, "rotate", ["master-key", ...words], withFlags(context.environment, rows, flags));
  });
}

function camelOf(flag: string): string {
  return flag.slice(2).replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
}

/** Runs the control plane's own command, and ends with its status. */
async function run(context: CommandContext, name: Name, words: readonly string[], given: Environment): Promise<void> {
  const done = await runOn(name, words, given, context.directory);
  if (typeof done === "number") return context.exit(done);
  context.complain(`vantage ${name}: ${done.line}`);
  context.exit(NO_SERVICE);
}

/** Runs the command on its database. The embedded one is started for its time, unless it runs. */
async function runOn(
  name: Name,
  words: readonly string[],
  given: Environment,
  directory: string,
): Promise<number | Problem> {
  const entry = PROGRAMS.backups;
  const missing = explainMissing(entry);
  if (missing !== null) return problem(missing);
  const environment = withMemory(given, CONTROL_PLANE_MEMORY);
  if ((environment["DATABASE_URL"]?.trim() ?? "") !== "") return runProgram(entry, [name, ...words], environment);
  const opened = await openEmbedded(resolve(directory, environment["VANTAGE_DATA_DIR"] ?? ""), name);
  if (!opened.ok) return opened;
  try {
    return await runChild(entry, [name, ...words], { ...environment, DATABASE_URL: opened.url });
  } finally {
    await opened.close();
  }
}

async function openEmbedded(
  dataDirectory: string,
  name: Name,
): Promise<{ ok: true; url: string; close: () => Promise<void> } | Problem> {
  const none = problem(`there is no embedded database in ${dataDirectory}: set DATABASE_URL or VANTAGE_DATA_DIR`);
  if (name !== "restore" && !existsSync(dataDirectory)) return none;
  const made = openDataDirectory(dataDirectory);
  if (!made.ok) return made;
  const cluster = clusterDirectory(dataDirectory);
  if (!cluster.ok) return cluster;
  if (name !== "restore" && !existsSync(join(cluster.path, "data"))) return none;
  const started = await startCluster({ root: cluster.path, settings: name === "restore" ? RESTORE_SETTINGS : {} });
  if (!started.ok) {
    // `up` has it.
    const url = runningUrl(cluster.path, DATABASE_NAME);
    return url === null ? started : { ok: true, url, close: () => Promise.resolve() };
  }
  const server = started.cluster;
  const close = () => (server.adopted ? Promise.resolve() : server.stop());
  try {
    await server.createDatabase(DATABASE_NAME);
    return { ok: true, url: server.url(DATABASE_NAME), close };
  } catch (error) {
    await close();
    return problem(`the embedded PostgreSQL in ${cluster.path} refuses connections (${describeError(error)})`);
  }
}
