import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "#control-plane/core/config.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { backupDirectory, runCommand, writeBackup } from "#test/support/backups.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { fillAccount } from "#test/support/dashboard-world.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const file = join(backupDirectory(), "service.tar");
const source = await stopAfterAll(openDatabase({ connections: 2 }));
const plane = await stopAfterAll(startControlPlane({ databaseUrl: source.url }));
const { key, monitors } = await fillAccount(plane, "restored", "shop");
await storeOpenWork(source.sql);
await writeBackup(source.url, file);

/** Stores what is under way in a service: a delivery whose attempt runs, one that waits, a batch and a measurement. */
async function storeOpenWork(sql: Sql): Promise<void> {
  await sql`
    insert into events (id, account_id, type, body, is_flapping, created_at)
    select 'evt_1', id, 'monitor.down', '{}', false, now() from accounts limit 1`;
  await sql`
    insert into deliveries (account_id, event_id, channel, receiver_id, status, attempts, is_leased, due_at, created_at)
    select account_id, 'evt_1', 'webhook', id, 'retrying', 1, true, now() + interval '1 hour', now() from webhooks`;
  await sql`
    insert into deliveries (account_id, event_id, channel, receiver_id, due_at, created_at)
    select account_id, 'evt_1', 'webhook', id, now() + interval '1 hour', now() from webhooks`;
  await sql`
    insert into delivery_attempts (delivery_id, attempt, started_at)
    select id, 1, now() from deliveries where status = 'retrying'`;
  for (const table of ["batches", "measurements"]) {
    const column = table === "batches" ? "invalid" : "params";
    // oxlint-disable-next-line no-await-in-loop -- two statements
    await sql.unsafe(
      `insert into ${table} (id, account_id, tool, status, ${column}, created_at, expires_at)
       select '${table}', id, 'ssl', 'running', '[]', now(), now() + interval '1 day' from accounts limit 1`,
    );
  }
}

/** Starts a service on a database into which the backup was restored. */
async function restore(words: readonly string[]): Promise<{ readonly plane: TestControlPlane; readonly line: string }> {
  const database = await stopAfterAll(openDatabase({ connections: 1 }));
  const { status, line } = await runCommand(database.url, ["restore", file, ...words]);
  expect([status, line]).toEqual([0, expect.stringContaining("Restored")]);
  const settings = { VANTAGE_SMTP_URL: "smtp://127.0.0.1:9", VANTAGE_MAIL_FROM: "a@example.com" };
  const read = readConfig({ DATABASE_URL: database.url, ...settings });
  if (!read.ok) throw new Error(read.line);
  const { mail } = read.config;
  return { plane: await stopAfterAll(startControlPlane({ databaseUrl: database.url, config: { mail } })), line };
}

it("a restored service goes on, and sends nothing of what was open", async () => {
  const { plane: restored, line } = await restore([]);
  expect(line).toContain("2 open deliveries");
  expect((await restored.call(`/api/v4/monitors?id=${monitors.http}`, { key })).status).toBe(200);
  const { sql } = restored.app;
  const deliveries = await sql`
    select distinct status, error_code as code, due_at as due, is_leased as "isLeased" from deliveries
    where event_id = 'evt_1'`;
  expect(deliveries).toEqual([{ status: "failed", code: "restored", due: null, isLeased: false }]);
  const attempts = await sql`
    select error_code as code, ended_at is not null as "hasEnded" from delivery_attempts
    where delivery_id in (select id from deliveries where event_id = 'evt_1')`;
  expect(attempts).toEqual([{ code: "restored", hasEnded: true }]);
  const runs = await sql`
    select status from batches union all select status from measurements where finished_at is not null`;
  expect(runs).toEqual([{ status: "failed" }, { status: "failed" }]);
  expect(await sql`select 1 from sessions union all select 1 from one_time_links`).toEqual([]);
  expect(restored.app.installation).toBe(plane.app.installation);
  expect(restored.app.config.mail).not.toBeNull();
});

it("a copy is another installation, which sends nothing and has no agents of the first one", async () => {
  const { plane: copy } = await restore(["--as-copy"]);
  expect(copy.app.installation).toMatch(/^[0-9A-Za-z]{12}$/);
  expect(copy.app.installation).not.toBe(plane.app.installation);
  expect(copy.app.config.mail).toBeNull();
  const { sql } = copy.app;
  expect(await sql`select distinct is_active from webhooks`).toEqual([{ is_active: false }]);
  expect(await sql`select distinct enabled from probes`).toEqual([{ enabled: false }]);
});
