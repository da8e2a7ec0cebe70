import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

const ALL = new URL("../../control-plane/core/migrations/", import.meta.url);

/** A database as a release before the newest one left it. */
export interface OldDatabase {
  readonly url: string;
  readonly sql: Sql;
  /** Applies the migrations that it lacks. */
  readonly upgrade: () => Promise<unknown>;
  readonly drop: () => Promise<void>;
}

/** Creates a database with the migrations before one of them, which is given by its name without its number. */
export async function openOldDatabase(name: string): Promise<OldDatabase> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 60_000 });
  const folder = mkdtempSync(join(tmpdir(), "migrations-"));
  const names = readdirSync(ALL)
    .filter((file) => file.endsWith(".sql"))
    .toSorted();
  const before = names.slice(
    0,
    names.findIndex((file) => file.endsWith(`-${name}.sql`)),
  );
  for (const file of before) copyFileSync(fileURLToPath(new URL(file, ALL)), join(folder, file));
  await sql.unsafe("drop schema public cascade; create schema public");
  await migrate(database.url, pathToFileURL(`${folder}/`));
  rmSync(folder, { recursive: true });
  return {
    url: database.url,
    sql,
    upgrade: () => migrate(database.url),
    async drop() {
      await sql.end();
      await database.drop();
    },
  };
}
