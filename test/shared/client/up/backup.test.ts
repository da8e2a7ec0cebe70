import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { makePlace, serversIn, type Place } from "#test/shared/client/up/supervisor.ts";

const MAIN = fileURLToPath(new URL("../../../../shared/client/main.ts", import.meta.url));
const OFF = { VANTAGE_METRICS_ADDR: "off", VANTAGE_AGENT_METRICS_ADDR: "off" };

let place: Place;
beforeEach(async () => {
  place = await makePlace();
});
afterEach(() => place.clean());

/** Runs a command to its end. Returns its status and output. */
async function run(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const running = place.start(more, [process.execPath, MAIN, ...words]);
  return { status: await running.ended, output: running.output() };
}

/** Undoes the migration of the table of backups in an embedded database that does not run. */
async function forgetMigration(root: string): Promise<void> {
  const started = await startCluster({ root });
  if (!started.ok) throw new Error(started.line);
  const sql = postgres(started.cluster.url("vantage"), { max: 1 });
  await sql`delete from schema_migrations where name like '%-backups.sql'`;
  await sql`drop table backups`;
  await sql.end();
  await started.cluster.stop();
}

test("the embedded database is backed up while it runs, restored into itself and into a new one, and gets a new key", async () => {
  const parent = dirname(place.directory);
  const file = join(parent, "backup.tar.age");
  const elsewhere = join(parent, "elsewhere");
  expect(await run(["backup", file])).toMatchObject({ status: 5 });
  const up = place.start(OFF, [process.execPath, MAIN, "up"]);
  await up.says("Ctrl-C stops everything");
  const key = /First API key +(vtg_\w{36}) /.exec(up.output())?.[1] ?? "";
  const passphrase = ["--passphrase-file", join(place.directory, "admin-token")];

  expect(await run(["backup", file, ...passphrase])).toEqual({ status: 0, output: expect.stringContaining("Wrote") });
  const refused = await run(["restore", file, "--yes", ...passphrase]);
  expect(refused).toEqual({ status: 5, output: expect.stringContaining("in use by a running service") });
  const rotate = ["rotate", "master-key", "--yes"];
  expect(await run(rotate)).toEqual({ status: 5, output: expect.stringContaining("in use by a running service") });
  up.process.kill("SIGTERM");
  await up.ended;

  expect(await run(["restore", file, ...passphrase])).toMatchObject({ status: 2 });
  expect(await run(["restore", file, "--yes", ...passphrase])).toMatchObject({ status: 0 });
  expect(serversIn(place.directory)).toEqual([]);
  expect(await run(["backup", file])).toMatchObject({ status: 0 });
  expect(await run(rotate)).toEqual({ status: 0, output: expect.stringContaining("values again") });
  expect(serversIn(place.directory)).toEqual([]);

  mkdirSync(elsewhere);
  const there = { VANTAGE_DATA_DIR: elsewhere };
  expect(await run(["restore", file], there)).toMatchObject({ status: 4 });
  cpSync(join(place.directory, "master-key.old"), join(elsewhere, "master-key"));
  expect(await run(["restore", file], there)).toMatchObject({ status: 0 });
  expect(readdirSync(parent).filter((name) => name.includes("partial"))).toEqual([]);
  await forgetMigration(join(elsewhere, "postgres"));
  const again = place.start({ ...OFF, ...there }, [process.execPath, MAIN, "up"]);
  await again.says("Ctrl-C stops everything");
  const tools = await fetch(`${place.base}/api/v4/tools`, { headers: { "X-API-Key": key } });
  expect(tools.status).toBe(200);
  // The database was one of an older release.
  expect(readdirSync(join(elsewhere, "backups"))).toEqual([expect.stringMatching(/^before-migration-\d{4}\.tar$/)]);
  again.process.kill("SIGTERM");
  expect(await again.ended).toBe(0);
});
