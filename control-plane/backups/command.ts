import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readBuild } from "#shared/process/build.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import type { Random } from "#shared/time/clock.ts";
import { BackupProblem, type BackupStatus } from "#control-plane/backups/problem.ts";
import { rotateMasterKey } from "#control-plane/backups/rotate/rotate.ts";
import { restoreBackup } from "#control-plane/backups/restore/restore.ts";
import { writeBackup } from "#control-plane/backups/write/write.ts";
import type { BackupConfig, Config } from "#control-plane/core/config.ts";
import { findMasterKey, WrongMasterKey } from "#control-plane/core/secrets/master-key.ts";

/** A command line, and what it is run with. */
interface BackupCommand {
  readonly command: "backup" | "restore" | "rotate";
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

const RUN = { backup: backUp, restore, rotate };

/**
 * Runs `backup FILE`, `restore FILE [--dry-run] [--yes] [--as-copy]` or
 * `rotate master-key [--new-key-file FILE] [--end-links] [--yes]`.
 */
export async function runBackupCommand(given: BackupCommand): Promise<CommandEnd> {
  try {
    return { status: 0, line: await RUN[given.command](given) };
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
  const { file, isDryRun, isConfirmed, isCopy } = readWords(words);
  const { manifest, replaced, endedDeliveries } = await restoreBackup({
    databaseUrl: config.databaseUrl,
    file,
    passphrase: readPassphrase(config.backups),
    masterKey: findMasterKey(config.masterKey, config.dataDir),
    random,
    isDryRun,
    mayReplace: isConfirmed,
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

async function rotate({ words, config, random }: BackupCommand): Promise<string> {
  const { file: what, newKeyFile, endsLinks, isConfirmed } = readWords(words);
  if (what !== "master-key") throw new BackupProblem(`${what} cannot be rotated: name master-key`, 2);
  const { databaseUrl, masterKey, dataDir } = config;
  const order = { databaseUrl, masterKey, dataDir, newKeyFile, random, isConfirmed, endsLinks };
  const { values, damaged, file, oldFile } = await rotateMasterKey(order);
  const done = values === null ? "The database has the new master key already" : `Sealed ${values} values again`;
  const others = damaged === 0 ? "" : ` (damaged before, and left as they were: ${damaged})`;
  const next =
    oldFile === null ? `Set VANTAGE_MASTER_KEY to the key in ${file} on every replica` : `The new key is in ${file}`;
  return `${done}${others}. ${next}. Backups of before need the old key${oldFile === null ? "" : `, ${oldFile}`}: keep it with them.`;
}

/** Reads the words of a command line. */
function readWords(words: readonly string[]) {
  const isFlag = { type: "boolean", default: false } as const;
  const options = {
    "dry-run": isFlag,
    yes: isFlag,
    "as-copy": isFlag,
    "end-links": isFlag,
    "new-key-file": { type: "string" },
  } as const;
  let read;
  try {
    read = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    throw new BackupProblem(describeError(error), 2);
  }
  const [file, ...others] = read.positionals;
  if (file === undefined || others.length > 0) throw new BackupProblem("name one file", 2);
  const { "dry-run": isDryRun, yes: isConfirmed, "as-copy": isCopy, "end-links": endsLinks } = read.values;
  return { file, isDryRun, isConfirmed, isCopy, endsLinks, newKeyFile: read.values["new-key-file"] ?? null };
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
