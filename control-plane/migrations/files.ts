import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { AppliedMigration, MigrationFile } from "#control-plane/migrations/store.ts";

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** Reads the numbered .sql files of a folder, in order. Rejects if a number is missing or used twice. */
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
 * Returns the files that are not applied yet. Throws if an applied file has changed since, because the database then
 * differs from the file. Applied migrations without a file are accepted: they come from a newer release that is being
 * rolled out.
 */
export function pendingMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): readonly MigrationFile[] {
  const ledger = new Map(applied.map((migration) => [migration.number, migration]));
  return files.filter((file) => {
    const known = ledger.get(file.number);
    if (known !== undefined && known.checksum !== file.checksum) {
      throw new Error(`migration ${file.name} was changed after it was applied to this database as ${known.name}`);
    }
    return known === undefined;
  });
}
