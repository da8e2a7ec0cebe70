// The upgrade of an instance with a long history. Not a test: `node test/bench/upgrade.ts --rows 10000000` loads what the first
// release with monitors has left, adds checks, and measures how long the service of this release is away when it upgrades that;
// then a migration that moves every check, killed in the middle and begun again, while a replica serves. Needs 6 GB in the
// temporary directory.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { CHECKS } from "#control-plane/outages/history/history.ts";
import { DAY_MS, HOUR_MS, startOf } from "#control-plane/outages/history/period.ts";
import { lineOf, quantile, row } from "#test/bench/report.ts";
import { insertMinutes } from "#test/bench/history/fill.ts";
import { startControlPlaneProcess } from "#test/support/control-plane-process.ts";

const MONITORS = 1_000;
const MIGRATIONS = new URL("../../control-plane/core/migrations/", import.meta.url);
const DUMP = new URL("../fixtures/upgrade/0014.sql.gz", import.meta.url);
const KEPT = 3_650 * DAY_MS;
/** One hour of checks at each run, found by their index. */
const MOVE = `-- Moves rows of checks, some at each run.
with step as (
  update moved_until set at = (
    select min(date_bin('1 hour', checked_at, timestamptz '2000-01-01 00:00:00+00')) from checks
    where date_bin('1 hour', checked_at, timestamptz '2000-01-01 00:00:00+00') > moved_until.at)
  returning at),
moved as (
  update checks set moved = lag_ms + 1 from step
  where date_bin('1 hour', checked_at, timestamptz '2000-01-01 00:00:00+00') = step.at returning 1)
select from moved;
`;

const { values } = parseArgs({ options: { rows: { type: "string", default: "10000000" } } });
const wanted = Number(values.rows);
const folder = mkdtempSync(join(tmpdir(), "vantage-upgrade-"));
chmodSync(folder, 0o711);
const started = await startCluster({ root: join(folder, "postgres"), settings: { max_wal_size: "4GB" } });
if (!started.ok) throw new Error(started.line);
const { cluster } = started;
const say = (what: string, value: number, unit: string): void => console.log(lineOf(row(what, value, unit)));
try {
  await cluster.createDatabase("vantage");
  const url = cluster.url("vantage");
  const dump = gunzipSync(readFileSync(DUMP)).toString();
  const { key } = JSON.parse(dump.slice(3, dump.indexOf("\n"))) as { readonly key: string };
  const loading = connect(url, { name: "load", connections: 1, statementTimeoutMs: 0 });
  await loading.unsafe(`drop schema public cascade; create schema public;${dump}`);
  await loading.end();
  const sql = connect(url, { name: "bench", connections: 1, statementTimeoutMs: 0 });
  await sql`
    insert into monitors overriding system value
    select (json_populate_record(m, json_build_object('id', 1000 + n, 'is_active', false))).*
    from generate_series(1, ${MONITORS}) as n, monitors as m where m.id = (select min(id) from monitors)`;
  const end = startOf(Date.now(), HOUR_MS);
  const hours = Math.ceil(wanted / MONITORS / 60);
  for (let day = startOf(end - hours * HOUR_MS, DAY_MS); day < end; day += DAY_MS)
    await keepPartitions(sql, CHECKS, new Date(day), KEPT);
  for (let hour = 1; hour <= hours; hour += 1) await insertMinutes(sql, end - hour * HOUR_MS, 60);
  await sql`analyze`;
  const [size] = await sql<{ rows: number; bytes: number }[]>`
    select count(*)::float8 as rows, pg_database_size(current_database())::float8 as bytes from checks`;
  say("upgrade: checks", size?.rows ?? 0, "rows");
  say("upgrade: size of the database", (size?.bytes ?? 0) / 1e6, "MB");

  const before = performance.now();
  const plane = await startControlPlaneProcess(url);
  say("upgrade: from the start of this release to its first answer", (performance.now() - before) / 1_000, "s");
  await plane.end("SIGTERM");
  const again = performance.now();
  const serving = await startControlPlaneProcess(url);
  say("upgrade: the same without new migrations", (performance.now() - again) / 1_000, "s");

  const files = join(folder, "migrations");
  mkdirSync(files);
  const names = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
  for (const name of names) copyFileSync(new URL(name, MIGRATIONS), join(files, name));
  const number = (offset: number): string => String(names.length + offset).padStart(4, "0");
  writeFileSync(
    join(files, `${number(1)}-moved.sql`),
    "alter table checks add column moved integer; create table moved_until (at timestamptz); insert into moved_until values ('-infinity');",
  );
  writeFileSync(join(files, `${number(2)}-moves.sql`), MOVE);

  const latencies: number[] = [];
  let failed = 0;
  const done = new AbortController();
  const asking = (async () => {
    while (!done.signal.aborted) {
      const at = performance.now();
      const { status } = await serving.call("/api/v4/monitors", { key });
      if (status !== 200) failed += 1;
      latencies.push(performance.now() - at);
      await sleep(20);
    }
  })();
  const movedAt = performance.now();
  const killedAfter = await move(url, files, (rows) => rows > wanted / 3);
  const rest = await move(url, files, () => false);
  say("upgrade: moving each check, killed after", killedAfter, "rows");
  say("upgrade: moving each check, the second process", rest, "rows");
  say("upgrade: moving each check, both", (performance.now() - movedAt) / 1_000, "s");
  done.abort();
  await asking;
  const [left] = await sql<{ wrong: number }[]>`
    select count(*)::float8 as wrong from checks where moved is distinct from lag_ms + 1 and checked_at < ${new Date(end)}`;
  say("upgrade: checks that are not moved, or twice", left?.wrong ?? NaN, "rows");
  say("upgrade: requests of a replica meanwhile", latencies.length, "requests");
  say("upgrade: of them failed", failed, "requests");
  say("upgrade: their p50", quantile(latencies, 0.5), "ms");
  say("upgrade: their p99", quantile(latencies, 0.99), "ms");
  await serving.end("SIGTERM");
  await sql.end();
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Migrates in a process of its own, which is killed when `isEnough` returns true. Returns the rows that it has moved. */
async function move(url: string, files: string, isEnough: (rows: number) => boolean): Promise<number> {
  const module = fileURLToPath(new URL("migrate.ts", MIGRATIONS));
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `const { migrate } = await import(${JSON.stringify(module)});
       await migrate(process.env.DATABASE_URL, new URL(process.env.FOLDER), { report: ({ rows }) => console.log(rows ?? 0) });`,
    ],
    {
      env: { DATABASE_URL: url, FOLDER: pathToFileURL(`${files}/`).href },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = once(child, "exit");
  let rows = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    rows = Number(line);
    if (isEnough(rows)) child.kill("SIGKILL");
  }
  await ended;
  return rows;
}
