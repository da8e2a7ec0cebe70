import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BACKED_UP, LEFT_OUT } from "#control-plane/backups/tables.ts";
import { fillHistory } from "#test/bench/history/fill.ts";
import { backupDirectory, digestTables, runCommand } from "#test/support/backups.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { fillAccount } from "#test/support/dashboard-world.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const directory = backupDirectory();
const database = await stopAfterAll(openDatabase());
const { sql } = database;
await fill();

/** Fills the database with everything that a service has, and stops the service. */
async function fill(): Promise<void> {
  const plane = await startControlPlane({ databaseUrl: database.url });
  const { pageId } = await fillAccount(plane, "backup", "Größe '\"\\N");
  await plane.stop();
  await fillHistory(sql, { now: Date.now(), rows: 30_000 });
  await sql`update monitors set name = e'\\t\\r\\n\\\\.\\u2028' where check_type = 'http'`;
  await sql`
    insert into pictures (monitor_id, kind, taken_at, sha256, width, height, size, content)
    select monitor_id, 'taken', now(), sha256('a'), 1, 1, 3, '\\x00ff0a' from visual_states`;
  await sql`
    insert into status_page_logos (page_id, type, width, height, hash, content)
    values (${pageId}, 'image/png', 1, 1, 'hash', '\\x0a0d5c00')`;
  await sql`
    insert into delivery_attempts (delivery_id, attempt, started_at, ended_at, response_body)
    select id, 1, now(), now(), 'gone' from deliveries`;
  // What a restore ends or deletes (restore/settle-store.ts) is not in this test.
  await sql`update deliveries set status = 'dead', due_at = null`;
  await sql`update join_tokens set reusable = true`;
}

it("every table of the migrations is backed up, or there is a reason why not", async () => {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...BACKED_UP, ...Object.keys(LEFT_OUT)].toSorted());
});

it("a restored service has the same rows, and gives no id a second time", async () => {
  const file = join(directory, "all.tar");
  await sql`delete from incidents where id = (select max(id) from incidents)`;
  const [incident] = await sql<{ id: number }[]>`select last_value as id from incidents_id_seq`;
  const written = await digestTables(sql);
  expect(await runCommand(database.url, ["backup", file])).toMatchObject({ status: 0 });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const other = await openDatabase({ connections: 1 });
  expect(await runCommand(other.url, ["restore", file])).toMatchObject({ status: 0 });
  expect(await digestTables(other.sql)).toEqual(written);
  const [next] = await other.sql<{ id: number }[]>`select nextval('incidents_id_seq') as id`;
  expect(next?.id).toBe((incident?.id ?? 0) + 1);
  await other.close();
});
