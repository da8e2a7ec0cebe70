import { mkdir, readdir, rm, statfs } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readBuild } from "#shared/process/build.ts";
import type { Random } from "#shared/time/clock.ts";
import { readPassphrase } from "#control-plane/backups/command.ts";
import { BackupProblem } from "#control-plane/backups/problem.ts";
import { writeBackup } from "#control-plane/backups/write/write.ts";
import type { Config } from "#control-plane/core/config.ts";
import type { UpgradeStart } from "#control-plane/core/migrations/migrate.ts";

const NAME = /^before-migration-\d{4}\.tar(?:\.age)?(?:\.[0-9a-f]{12}\.partial)?$/;

/** Room for the log and the temporary files of a database that is upgraded, bytes. */
const SPARE_BYTES = 64 * 1024 * 1024;

/**
 * Creates a function that backs up the embedded database before its migrations into `<data dir>/backups/`, in place of the
 * backup before the last ones, if the disk has room for that and for the rows that they move. If it rejects, no migration is
 * applied.
 */
export function createBackupBefore(
  config: Pick<Config, "databaseUrl" | "dataDir" | "backups">,
  random: Random,
): (start: UpgradeStart) => Promise<void> {
  return async ({ newest, databaseBytes, movedBytes }) => {
    const directory = join(resolve(config.dataDir), "backups");
    const passphrase = readPassphrase(config.backups);
    const name = `before-migration-${String(newest + 1).padStart(4, "0")}.tar${passphrase === null ? "" : ".age"}`;
    const { version } = readBuild();
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      // A backup is text, and takes less than its rows do in the database.
      await requireSpace(directory, databaseBytes + movedBytes + SPARE_BYTES);
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

async function requireSpace(directory: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new Error(`it needs up to ${megabytes(bytes)} MB in ${directory}, and ${megabytes(free)} MB are free`);
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}
