import { mkdir, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readBuild } from "#shared/process/build.ts";
import type { Random } from "#shared/time/clock.ts";
import { readPassphrase } from "#control-plane/backups/command.ts";
import { BackupProblem } from "#control-plane/backups/problem.ts";
import { writeBackup } from "#control-plane/backups/write/write.ts";
import type { Config } from "#control-plane/core/config.ts";

const NAME = /^before-migration-\d{4}\.tar(?:\.age)?(?:\.[0-9a-f]{12}\.partial)?$/;

/**
 * Creates a function that backs up the database before its migrations into `<data dir>/backups/`, in place of the backup
 * before the last ones. Its argument is the number of the newest migration of the database. If it rejects, no migration is
 * applied.
 */
export function createBackupBefore(
  config: Pick<Config, "databaseUrl" | "dataDir" | "backups">,
  random: Random,
): (newest: number) => Promise<void> {
  return async (newest) => {
    const directory = join(resolve(config.dataDir), "backups");
    const passphrase = readPassphrase(config.backups);
    const name = `before-migration-${String(newest + 1).padStart(4, "0")}.tar${passphrase === null ? "" : ".age"}`;
    const { version } = readBuild();
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeBackup({ databaseUrl: config.databaseUrl, file: join(directory, name), passphrase, version, random });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new BackupProblem(`no migration was applied, because no backup could be made before it: ${reason}`);
    }
    for (const old of await readdir(directory)) {
      if (NAME.test(old) && old !== name) await rm(join(directory, old));
    }
  };
}
