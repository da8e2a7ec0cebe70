import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { signIn } from "#test/support/dashboard.ts";
import { createTestDatabase, openDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// Dumps (pg_dump --inserts) of databases that earlier releases made and filled themselves, through their own doors: accounts,
// keys, people, tools, webhooks, monitors of each kind, heartbeats, a page, an incident. The name is the number of the newest
// migration of that release. The first line has what only its users know.
const FOLDER = new URL("../../../fixtures/upgrade/", import.meta.url);
const RELEASES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".sql.gz"))
  .map((name) => name.slice(0, 4));

/** What the users of a release have. */
interface Facts {
  readonly key: string;
  readonly heartbeats: readonly string[];
}

/** Ids by table. */
type Made = Readonly<Record<string, readonly number[] | null>>;

const fresh = await stopAfterAll(openDatabase({ connections: 1 }));
const schema = await describeSchema(fresh.sql);

/** Tables, columns, constraints and indexes, without partitions and without the tables of the job queue. */
async function describeSchema(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    with tables as (
      select oid, relname from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition)
    select format('%s.%s %s %s %s', relname, attname, format_type(atttypid, atttypmod), attnotnull,
      pg_get_expr(adbin, adrelid)) as line
    from tables join pg_attribute on attrelid = tables.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = tables.oid and adnum = attnum
    union all
    select format('%s %s %s', relname, conname, pg_get_constraintdef(pg_constraint.oid))
    from tables join pg_constraint on conrelid = tables.oid where contype <> 'n'
    union all
    select pg_get_indexdef(indexrelid) from tables join pg_index on indrelid = tables.oid
    order by 1`;
  return rows.map(({ line }) => line);
}

/** Rows of the tables that hold what users have made; null: the release had no such table. */
async function readMade(sql: Sql): Promise<Made> {
  const made = await Promise.all(
    ["accounts", "keys", "users", "monitors", "webhooks", "status_pages", "incidents"].map(async (table) => {
      const [{ has } = { has: false }] = await sql<{ has: boolean }[]>`select to_regclass(${table}) is not null as has`;
      return [
        table,
        has ? (await sql`select id from ${sql(table)} order by id`).map((row) => Number(row["id"])) : null,
      ];
    }),
  );
  return Object.fromEntries(made) as Made;
}

describe.each(RELEASES)("a database of the release with migration %s", (release) => {
  const dump = gunzipSync(readFileSync(new URL(`${release}.sql.gz`, FOLDER))).toString();
  const { key, heartbeats } = JSON.parse(dump.slice(3, dump.indexOf("\n"))) as Facts;
  let database: TestDatabase;
  let plane: TestControlPlane;
  let before: Made;
  let after: Made;
  let upgraded: readonly string[];

  beforeAll(async () => {
    database = await createTestDatabase();
    const open = (): Sql => connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 0 });
    // The dump changes settings of its session.
    const loading = open();
    await loading.unsafe("drop schema public cascade; create schema public");
    await loading.unsafe(dump);
    await loading.end();
    const sql = open();
    before = await readMade(sql);
    await migrate(database.url);
    after = await readMade(sql);
    upgraded = await describeSchema(sql);
    await sql.end();
    plane = await startControlPlane({ databaseUrl: database.url });
  });

  afterAll(async () => {
    await plane?.stop();
    await database?.drop();
  });

  it("has the schema of a new one, and every row", () => {
    expect(upgraded).toEqual(schema);
    for (const [table, ids] of Object.entries(before))
      if (ids !== null) expect([table, after[table]]).toEqual([table, ids]);
    expect(before["keys"]?.length).toBeGreaterThan(1);
  });

  it("is served: its keys, monitors with their secrets, webhooks, heartbeats, pages and people", async () => {
    const idsOf = async (path: string): Promise<readonly number[]> => {
      const { status, body } = await plane.call(path, { key });
      expect([path, status]).toEqual([path, 200]);
      return (body.data as readonly { readonly id: number }[]).map(({ id }) => id).toSorted((a, b) => a - b);
    };
    expect(await idsOf("/api/v4/monitors")).toEqual(before["monitors"] ?? []);
    expect(await idsOf("/api/v4/webhooks")).toEqual(before["webhooks"] ?? []);
    for (const id of before["monitors"] ?? [])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await plane.call(`/api/v4/monitors?id=${id}`, { key })).status).toBe(200);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (const path of heartbeats) expect((await plane.call(path)).status).toBe(200);
    if ((before["status_pages"] ?? []).length > 0)
      expect((await plane.call("/api/v4/status?slug=demo-shop")).status).toBe(200);
    if ((before["users"] ?? []).length > 0)
      expect((await signIn(plane, "grace.hopper@example.com")).cookie).not.toBeNull();
  });
});
