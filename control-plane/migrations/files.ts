import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { AppliedMigration, MigrationFile } from "#control-plane/migrations/store.ts";

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** The numbered .sql files of a folder, in order; fails where a number is missing or used twice. */
export async function readMigrations(folder: URL): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(FILE_NAME.exec(name)?.[1]);
      if (number !== index + 1) throw new Error(`migration ${name}: expected number ${index + 1} and kebab-case`);
      const text = await readFile(new URL(name, folder), "utf8");
      return { number, name, text, checksum: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/**
 * The files still to apply. Fails where an applied file has changed since: its database differs from what the file says.
 * Migrations the database has beyond ours are fine: a newer replica is being rolled out.
 */
export function pendingMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): readonly MigrationFile[] {
  const ledger = new Map(applied.map((migration) => [migration.number, migration]));
  return files.filter((file) => {
    const known = ledger.get(file.number);
    if (known !== undefined && known.checksum !== file.checksum) {
      throw new Error(`migration ${file.name} was changed after it had been applied to this database as ${known.name}`);
    }
    return known === undefined;
  });
}
