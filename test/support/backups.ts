import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { runBackupCommand, type CommandEnd } from "#control-plane/backups/command.ts";
import { BACKED_UP } from "#control-plane/backups/tables.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { checkMasterKey } from "#control-plane/core/secrets/master-key.ts";
import { systemRandom } from "#test/support/clock.ts";
import { COMPILED_CODE } from "#test/support/compiled-code.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";

/** The program of the commands. */
export const COMMAND_ENTRY = fileURLToPath(new URL("../../control-plane/backups/main.ts", import.meta.url));

/** Creates a directory for the backups of a test file, which is removed after its tests. */
export function backupDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "vantage-backups-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** What a test gives a command besides its words. */
interface Given {
  readonly passphraseFile?: string;
  /** null: it is in the data directory. */
  readonly masterKey?: Uint8Array | null;
  readonly dataDir?: string;
}

/** Runs `backup ...`, `restore ...` or `rotate ...` on a database, in this process. */
export function runCommand(
  databaseUrl: string,
  [command, ...words]: readonly ["backup" | "restore" | "rotate", ...string[]],
  { passphraseFile, masterKey = MASTER_KEY, dataDir = "/nonexistent" }: Given = {},
): Promise<CommandEnd> {
  const backups = { directory: null, schedule: null, keep: 7, passphraseFile: passphraseFile ?? null };
  const config = { databaseUrl, masterKey, dataDir, backups };
  return runBackupCommand({ command, words, config, random: systemRandom });
}

/** Writes a backup. Throws if that fails. */
export async function writeBackup(databaseUrl: string, file: string, passphraseFile?: string): Promise<void> {
  const given = passphraseFile === undefined ? {} : { passphraseFile };
  const { status, line } = await runCommand(databaseUrl, ["backup", file], given);
  if (status !== 0) throw new Error(line);
}

/** Returns the environment in which the program runs them on a database. */
export function commandEnvironment(databaseUrl: string): Record<string, string | undefined> {
  return {
    PATH: process.env["PATH"],
    ...COMPILED_CODE,
    DATABASE_URL: databaseUrl,
    VANTAGE_MASTER_KEY: MASTER_KEY.toString("base64"),
  };
}

/** Starts the same in a process of its own. */
export function startCommand(
  databaseUrl: string,
  words: readonly string[],
  more: Readonly<Record<string, string | undefined>> = {},
): ChildProcess {
  const env = { ...commandEnvironment(databaseUrl), ...more };
  return spawn(process.execPath, [COMMAND_ENTRY, ...words], { env, stdio: "ignore" });
}

/** Stores what any service has that was once started: the check of its master key, its id, and an account. */
export async function storeSmallService(sql: Sql): Promise<void> {
  await checkMasterKey(sql, MASTER_KEY);
  await sql`insert into instance (name, value) values ('installation', 'AAAAAAAAAAAA')`;
  await sql`insert into accounts (email, plan, created_at, updated_at) values ('a@example.com', 'pro', now(), now())`;
}

/** Returns the number of rows of each table that is backed up, and a digest of them. */
export async function digestTables(
  sql: Sql,
  tables: readonly string[] = BACKED_UP,
): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {};
  for (const table of tables) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const [row] = await sql.unsafe<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, e'\\n' order by t::text)), '') as digest from "${table}" as t`,
    );
    digests[table] = row?.digest ?? "";
  }
  return digests;
}
