import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { runBackupCommand, type CommandEnd } from "#control-plane/backups/command.ts";
import { BACKED_UP } from "#control-plane/backups/tables.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";

/** A directory for the backups of a test file, removed after its tests. */
export function backupDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "vantage-backups-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** What a test gives a command besides its words. */
interface Given {
  readonly passphraseFile?: string;
  readonly masterKey?: Uint8Array;
}

/** Runs `backup ...` or `restore ...` on a database. */
export function runCommand(
  databaseUrl: string,
  [command, ...words]: readonly ["backup" | "restore", ...string[]],
  { passphraseFile, masterKey = MASTER_KEY }: Given = {},
): Promise<CommandEnd> {
  const backups = { directory: null, schedule: null, keep: 7, passphraseFile: passphraseFile ?? null };
  const config = { databaseUrl, masterKey, dataDir: "/nonexistent", backups };
  return runBackupCommand({ command, words, config, random: systemRandom });
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
