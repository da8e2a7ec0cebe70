import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readBuild } from "#shared/process/build.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import type { Random } from "#shared/time/clock.ts";
import { BackupProblem, type BackupStatus } from "#control-plane/backups/problem.ts";
import { restoreBackup } from "#control-plane/backups/restore/restore.ts";
import { writeBackup } from "#control-plane/backups/write/write.ts";
import type { BackupConfig, Config } from "#control-plane/core/config.ts";
import { findMasterKey, WrongMasterKey } from "#control-plane/core/secrets/master-key.ts";

/** A command line, and what it is run with. */
interface BackupCommand {
  readonly command: "backup" | "restore";
  readonly words: readonly string[];
  readonly config: Pick<Config, "databaseUrl" | "masterKey" | "dataDir" | "backups">;
  readonly random: Random;
  /** Aborted to stop a backup. */
  readonly signal?: AbortSignal;
}

/** How a command ended: its exit status, and one line for the operator. */
export interface CommandEnd {
  readonly status: 0 | BackupStatus;
  readonly line: string;
}

/** Runs `backup FILE` or `restore FILE [--dry-run] [--yes] [--as-copy]`. */
export async function runBackupCommand(given: BackupCommand): Promise<CommandEnd> {
  try {
    return { status: 0, line: await (given.command === "backup" ? backUp(given) : restore(given)) };
  } catch (error) {
    if (error instanceof BackupProblem) return { status: error.status, line: error.message };
    if (error instanceof WrongMasterKey) return { status: 4, line: error.message };
    if (given.signal?.aborted === true) return { status: 5, line: "stopped, and no file is left" };
    const message = error instanceof Error && error.message !== "" ? error.message : describeError(error);
    return { status: 5, line: message.replaceAll(/\s+/g, " ") };
  }
}

async function backUp({ words, config, random, signal }: BackupCommand): Promise<string> {
  const { file } = readWords(words);
  const { bytes, rows, tables } = await writeBackup({
    databaseUrl: config.databaseUrl,
    file,
    passphrase: readPassphrase(config.backups),
    version: readBuild().version,
    random,
    ...(signal === undefined ? {} : { signal }),
  });
  return (
    `Wrote ${file}: ${rows} rows of ${tables} tables, ${bytes} bytes. The master key is not in it: keep VANTAGE_MASTER_KEY, ` +
    "or the file master-key of the data directory, apart from it. Nothing can be restored without it."
  );
}

async function restore({ words, config, random }: BackupCommand): Promise<string> {
  const { file, isDryRun, mayReplace, isCopy } = readWords(words);
  const { manifest, replaced, endedDeliveries } = await restoreBackup({
    databaseUrl: config.databaseUrl,
    file,
    passphrase: readPassphrase(config.backups),
    masterKey: findMasterKey(config.masterKey, config.dataDir),
    random,
    isDryRun,
    mayReplace,
    isCopy,
  });
  const rows = manifest.tables.reduce((total, table) => total + table.rows, 0);
  const what = `${file}, ${rows} rows of ${manifest.tables.length} tables as of ${manifest.created_at}`;
  if (isDryRun) {
    const over =
      replaced === 0 ? "The database has no data." : `It would replace what the database has (accounts: ${replaced}).`;
    return `Nothing was changed. The backup is good: ${what}. ${over}`;
  }
  const copy = isCopy ? " This is a copy: its webhooks and agents are inactive, and it sends no mail." : "";
  return `Restored ${what}. ${endedDeliveries} open deliveries of then will not be sent.${copy}`;
}

/** Reads the words of a command line. */
function readWords(words: readonly string[]) {
  const isFlag = { type: "boolean", default: false } as const;
  const options = { "dry-run": isFlag, yes: isFlag, "as-copy": isFlag };
  let read;
  try {
    read = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    throw new BackupProblem(describeError(error), 2);
  }
  const [file, ...others] = read.positionals;
  if (file === undefined || others.length > 0) throw new BackupProblem("name one file", 2);
  const { "dry-run": isDryRun, yes: mayReplace, "as-copy": isCopy } = read.values;
  return { file, isDryRun, mayReplace, isCopy };
}

/** Reads the passphrase in the first line of the file that the settings name; null if they name none. */
export function readPassphrase({ passphraseFile }: Pick<BackupConfig, "passphraseFile">): string | null {
  if (passphraseFile === null) return null;
  let text: string;
  try {
    text = readFileSync(passphraseFile, "utf8");
  } catch (error) {
    throw new BackupProblem(`the passphrase file ${passphraseFile} cannot be read (${describeError(error)})`, 2);
  }
  const passphrase = text.split("\n", 1)[0]?.trim() ?? "";
  if (passphrase === "") throw new BackupProblem(`${passphraseFile} has no passphrase in its first line`, 2);
  return passphrase;
}
