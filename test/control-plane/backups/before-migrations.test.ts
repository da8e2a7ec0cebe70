import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createBackupBefore } from "#control-plane/backups/before-migrations.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { backupDirectory, digestTables, runCommand, storeSmallService } from "#test/support/backups.ts";
import { systemRandom } from "#test/support/clock.ts";
import { openOldDatabase } from "#test/support/old-database.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const dataDir = backupDirectory();
const backups = { directory: null, schedule: null, keep: 7, passphraseFile: null };

it("new migrations of a database with data begin with a backup, which this release restores", async () => {
  const old = await stopAfterAll(openOldDatabase("page-domains"));
  await storeSmallService(old.sql);
  await old.sql`
    insert into status_pages (account_id, slug, title, is_public, domain, group_names, created_at, updated_at)
    select id, 'slug', 'Title', true, 'status.example.com', '{}', now(), now() from accounts`;
  const prepare = createBackupBefore({ databaseUrl: old.url, dataDir, backups }, systemRandom);
  await migrate(old.url, undefined, { prepare });
  const file = join(dataDir, "backups", "before-migration-0039.tar");
  expect(readdirSync(join(dataDir, "backups"))).toEqual(["before-migration-0039.tar"]);

  const target = await openDatabase({ connections: 1 });
  expect(await runCommand(target.url, ["restore", file])).toMatchObject({ status: 0 });
  // Its later migrations were applied to the rows, as they were to the database itself.
  const tables = ["status_pages", "accounts"];
  const both = await Promise.all([
    target.sql`select domain, domain_state from status_pages`,
    old.sql`select domain, domain_state from status_pages`,
  ]);
  expect(both).toEqual([[{ domain: "status.example.com", domain_state: "verified" }], both[0]]);
  expect((await digestTables(target.sql, tables))["accounts"]).toBe((await digestTables(old.sql, tables))["accounts"]);
  await target.close();
});

it("a new database has none, and one without new migrations neither", async () => {
  const database = await stopAfterAll(openDatabase({ connections: 1 }));
  const never = (): Promise<void> => Promise.reject(new Error("a backup was made"));
  expect((await migrate(database.url, undefined, { prepare: never })).applied).toEqual([]);
  await database.sql.unsafe("drop schema public cascade; create schema public");
  expect((await migrate(database.url, undefined, { prepare: never })).applied).not.toEqual([]);
});

it("no migration is applied if the backup fails, and the one before the last ones stays until there is a new one", async () => {
  const old = await stopAfterAll(openOldDatabase("presence-changes"));
  await storeSmallService(old.sql);
  const blocked = join(dataDir, "blocked");
  writeFileSync(blocked, "");
  const failing = createBackupBefore({ databaseUrl: old.url, dataDir: blocked, backups }, systemRandom);
  await expect(migrate(old.url, undefined, { prepare: failing })).rejects.toThrow(/no migration was applied/);
  expect(await old.sql`select max(number) as newest from schema_migrations`).toEqual([{ newest: 60 }]);
  expect(readdirSync(join(dataDir, "backups"))).toEqual(["before-migration-0039.tar"]);
  const prepare = createBackupBefore({ databaseUrl: old.url, dataDir, backups }, systemRandom);
  const large = { newest: 60, databaseBytes: 1e15, movedBytes: 0 };
  await expect(prepare(large)).rejects.toThrow(
    /no migration was applied.* needs up to 10000000\d\d MB in .*, and \d+ MB are free$/,
  );
  expect(readdirSync(join(dataDir, "backups"))).toEqual(["before-migration-0039.tar"]);
  await migrate(old.url, undefined, { prepare });
  expect(readdirSync(join(dataDir, "backups"))).toEqual(["before-migration-0061.tar"]);
});
