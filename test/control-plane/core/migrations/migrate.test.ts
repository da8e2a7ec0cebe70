import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMigrationCheck, migrate, type UpgradeProgress } from "#control-plane/core/migrations/migrate.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MIGRATE = new URL("../../../../control-plane/core/migrations/migrate.ts", import.meta.url).href;

let folder: string;

const database = await stopAfterAll(openDatabase());
const { sql } = database;

beforeEach(async () => {
  await sql.unsafe("drop schema public cascade; create schema public");
  folder = mkdtempSync(join(tmpdir(), "migrations-"));
  write("0001-first.sql", "create table first (n integer); insert into first values (1);");
  write("0002-second.sql", "create table second (n integer);");
});

afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const run = () => migrate(database.url, pathToFileURL(`${folder}/`));
const isUpToDate = () => createMigrationCheck(pathToFileURL(`${folder}/`))(sql);

describe("migrations", () => {
  it("are applied once, in order, and the check reports when the database is up to date", async () => {
    expect(await isUpToDate()).toBe(false);
    expect(await run()).toEqual({ applied: ["0001-first.sql", "0002-second.sql"] });
    expect(await isUpToDate()).toBe(true);
    expect(await run()).toEqual({ applied: [] });
    write("0003-third.sql", "create table third (n integer);");
    expect(await isUpToDate()).toBe(false);
    expect(await run()).toEqual({ applied: ["0003-third.sql"] });
    expect(await sql`select number from schema_migrations order by number`).toEqual([
      { number: 1 },
      { number: 2 },
      { number: 3 },
    ]);
  });

  it("can be run by many processes at the same time: exactly one applies each file", async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, run));
    expect(runs.flatMap(({ applied }) => applied).toSorted()).toEqual(["0001-first.sql", "0002-second.sql"]);
    expect(await sql`select n from first`).toEqual([{ n: 1 }]);
  });

  it("are all or nothing, file by file", async () => {
    write("0002-second.sql", "create table second (n integer); select 1 / 0;");
    await expect(run()).rejects.toThrow("migration 0002-second.sql failed");
    expect(await sql`select to_regclass('first') is not null as first, to_regclass('second') as second`).toEqual([
      { first: true, second: null },
    ]);
    write("0002-second.sql", "create table second (n integer); insert into first values (1), (2);");
    expect(await run()).toEqual({ applied: ["0002-second.sql"] });
  });

  it("that wait for a transaction let the others through, and are applied when it ends", async () => {
    await run();
    const release = Promise.withResolvers<undefined>();
    const held = Promise.withResolvers<undefined>();
    const holder = sql.begin(async (tx) => {
      await tx`select n from first`;
      held.resolve(undefined);
      await release.promise;
    });
    await held.promise;
    write("0003-third.sql", "alter table first add column more integer;");
    const running = run();
    const countWaiting = async (): Promise<number> =>
      (await sql`select 1 from pg_locks where not granted and relation = 'first'::regclass`).length;
    await expect.poll(countWaiting).toBe(1);
    // Behind the migration, which waits for the holder.
    expect(await sql`select n from first`).toEqual([{ n: 1 }]);
    release.resolve(undefined);
    await holder;
    expect(await running).toEqual({ applied: ["0003-third.sql"] });
    expect(await sql`select more from first`).toEqual([{ more: null }]);
  });

  it("that move rows commit each run: after a kill in the middle the next process moves the rest, and says how far it is", async () => {
    await run();
    await sql.unsafe(
      "create table history (n integer, moved integer); insert into history select generate_series(1, 25)",
    );
    await sql.unsafe("analyze history");
    write(
      "0003-history.sql",
      "-- Moves rows of history, some at each run.\n" +
        "update history set moved = n * 2 where n in (select n from history where moved is null order by n limit 10);",
    );
    const killed = spawn(
      process.execPath,
      [
        "--input-type=module",
        "--eval",
        `const { migrate } = await import(${JSON.stringify(MIGRATE)});
         await migrate(process.env.DATABASE_URL, new URL(process.env.FOLDER), { report({ rows }) {
           if (rows !== 10) return;
           process.stdout.write("in the middle\\n");
           Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
         } });`,
      ],
      {
        env: { DATABASE_URL: database.url, FOLDER: pathToFileURL(`${folder}/`).href },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    await Promise.race([once(killed.stdout, "data"), once(killed, "exit")]);
    expect(killed.exitCode).toBeNull();
    killed.kill("SIGKILL");
    await once(killed, "exit");
    expect(await sql`select count(*)::integer as moved from history where moved is not null`).toEqual([{ moved: 10 }]);
    expect(await isUpToDate()).toBe(false);

    const reported: UpgradeProgress[] = [];
    const report = (progress: UpgradeProgress) => void reported.push(progress);
    expect(await migrate(database.url, pathToFileURL(`${folder}/`), { report })).toEqual({
      applied: ["0003-history.sql"],
    });
    const of = { migration: "0003-history.sql", left: 0, tableRows: 25 };
    expect(reported).toEqual([0, 10, 15].map((rows) => ({ ...of, rows })));
    expect(await sql`select count(*)::integer as wrong from history where moved is distinct from n * 2`).toEqual([
      { wrong: 0 },
    ]);
    expect(await isUpToDate()).toBe(true);
  });

  it("that violate a constraint themselves do not count as applied", async () => {
    write("0002-second.sql", "create table second (n integer primary key); insert into second values (1), (1);");
    await expect(run()).rejects.toThrow("migration 0002-second.sql failed");
    expect(await isUpToDate()).toBe(false);
  });

  it("must not change after they were applied", async () => {
    await run();
    write("0001-first.sql", "create table other (n integer);");
    await expect(run()).rejects.toThrow("migration 0001-first.sql was changed");
    await expect(isUpToDate()).rejects.toThrow("was changed");
  });

  it("of a newer release are ignored", async () => {
    write("0003-third.sql", "create table third (n integer);");
    await run();
    rmSync(join(folder, "0003-third.sql"));
    expect(await run()).toEqual({ applied: [] });
    expect(await isUpToDate()).toBe(true);
  });

  it.each(["0004-gap.sql", "0002-again.sql", "3-short.sql", "0003-Upper.sql"])("cannot be named %s", async (name) => {
    write(name, "select 1;");
    await expect(run()).rejects.toThrow("expected number");
  });

  it("of this release apply to an empty database", async () => {
    const { applied } = await migrate(database.url);
    expect(applied[0]).toBe("0001-accounts-keys-limits.sql");
    expect(await createMigrationCheck()(sql)).toBe(true);
  });
});
