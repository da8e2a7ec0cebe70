// Checks, roll-ups and reads on a database with a long history, with the defaults of the embedded PostgreSQL. Not a
// test: `node test/bench/history.ts --rows 50000000` prints what it measured and exits with 1 if a limit was missed. It
// needs about 10 GB in the temporary directory. `--index monitor` measures insertion with an index that begins with the
// monitor, `--index none` without one.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { createHistory, CHECKS } from "#control-plane/outages/history/history.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { DAY_MS, HOUR_MS, startOf } from "#control-plane/outages/history/period.ts";
import { rollUpHours } from "#control-plane/outages/history/roll-up/hours.ts";
import { fillRollUps, insertMinutes } from "#test/bench/history/fill.ts";
import { holds, lineOf, quantile, row, type Row } from "#test/bench/report.ts";
import { readCpuSeconds } from "#test/fleet/process-times.ts";
import { systemClock } from "#test/support/clock.ts";
import { NO_MAINTENANCE } from "#test/support/history.ts";
import { liveTimers } from "#test/support/timers.ts";

const MONITORS = 60_000;
const MINUTE = 60_000;
const BATCH = 200;
/** How far the running hour is when the measured checks begin. */
const FILLED_MINUTES = 30;
/** Checks between two checkpoints: five minutes at 1,000 a second. */
const INSERTED = 300_000;
const READS_PER_SECOND = 50;
const READ_SECONDS = 20;
const KEPT = 3_650 * DAY_MS;

/** Hours before the end that are filled with the index in place, as the service fills them. */
const INDEXED_HOURS = 2;
const INDEXES = {
  hour: `create index checks_hour on checks
    (date_bin('1 hour', checked_at, timestamptz '2000-01-01 00:00:00+00'), monitor_id)`,
  monitor: "create index checks_monitor on checks (monitor_id, checked_at)",
  none: "select",
};

const { values } = parseArgs({
  options: { rows: { type: "string", default: "50000000" }, index: { type: "string", default: "hour" } },
});
const hours = Math.max(INDEXED_HOURS, Math.ceil(Number(values.rows) / MONITORS / 60));
const variant = values.index === "monitor" || values.index === "none" ? values.index : "hour";

/** Fills a database whose newest check is at `end`: checks of each minute, and 90 days of roll-ups. */
async function fill(sql: Sql, end: number): Promise<void> {
  const begin = end - hours * HOUR_MS;
  await sql`insert into accounts (plan, created_at, updated_at) values ('captain', now(), now())`;
  await sql`
    insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
      updated_at)
    select 1, 'shop', 'https://shop.example', 'http', 1, true, '{}', '{}', ${new Date(end - 200 * DAY_MS)}, now()
    from generate_series(1, ${MONITORS})`;
  for (let day = startOf(begin, DAY_MS); day < end; day += DAY_MS)
    await keepPartitions(sql, CHECKS, new Date(day), KEPT);
  await sql`drop index checks_hour`;
  for (let from = begin; from < end; from += HOUR_MS) {
    if (from === end - INDEXED_HOURS * HOUR_MS) await sql.unsafe(INDEXES[variant]);
    await insertMinutes(sql, from, 60);
    process.stderr.write(`${(performance.now() / 1_000).toFixed(0)} s: filled until ${new Date(from).toISOString()}\n`);
  }
  if (variant !== "hour") return;
  await fillRollUps(sql, end);
}

/** Reads what this connection's server process has written and spent. */
async function readBackend(sql: Sql) {
  const [found] = await sql<{ pid: number; walBytes: number; images: number }[]>`
    select pg_backend_pid() as pid, wal_bytes::float8 as "walBytes", wal_fpi::float8 as images
    from pg_stat_get_backend_wal(pg_backend_pid())`;
  if (found === undefined) throw new Error("the server has no statistics of this connection");
  return { ...found, cpu: readCpuSeconds(found.pid) };
}

/** Inserts checks of all monitors into a running hour in batches, one after the other, as the watch does. */
async function benchInsertion(sql: Sql, at: number): Promise<Row[]> {
  await insertMinutes(sql, at, FILLED_MINUTES);
  await sql`checkpoint`;
  const begin = at + FILLED_MINUTES * MINUTE;
  const before = await readBackend(sql);
  const ownCpu = process.cpuUsage();
  const startedAt = performance.now();
  for (let done = 0; done < INSERTED; done += BATCH) {
    // A step that shares no factor with the number of monitors, so that the monitors of a batch are not neighbours.
    const ids = Array.from({ length: BATCH }, (_, index) => (((done + index) * 7_919) % MONITORS) + 1);
    const times = ids.map((_, index) => new Date(begin + done + index).toISOString());
    await sql`
      insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed)
      select given.*, 200, 5, false, 0 from unnest(
        ${ids}::bigint[], ${times}::timestamptz[], ${ids.map(() => "eu-west")}::text[], ${ids.map(() => 1)}::smallint[],
        ${ids.map((id) => 40 + (id % 60))}::integer[]
      ) as given`;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await readBackend(sql);
  const { user, system } = process.cpuUsage(ownCpu);
  return [
    row("history: WAL of one check", (after.walBytes - before.walBytes) / INSERTED, "bytes", { atMost: 500 }),
    row("history: page images for 1,000 checks", ((after.images - before.images) / INSERTED) * 1_000, "pages"),
    row("history: CPU of PostgreSQL for one check", ((after.cpu - before.cpu) / INSERTED) * 1e6, "us"),
    row("history: CPU of this process for one check", (user + system) / INSERTED, "us"),
    row("history: checks inserted by one connection", INSERTED / seconds, "checks/s", { atLeast: 1_000 }),
  ];
}

/** Computes one hour of 3.6 million checks, in the steps of the product. */
async function benchRollUp(sql: Sql, hour: number): Promise<Row[]> {
  await sql`delete from check_hours where hour = ${new Date(hour)}`;
  await sql`update history_progress set open_from = ${new Date(hour)}, next_monitor = 0 where name = 'hours'`;
  const before = await readBackend(sql);
  const steps: number[] = [];
  const startedAt = performance.now();
  for (;;) {
    const stepAt = performance.now();
    if ((await rollUpHours(sql, new Date(hour + HOUR_MS + 3 * MINUTE), 2_500)) === "idle") break;
    steps.push(performance.now() - stepAt);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await readBackend(sql);
  const [counted] = await sql<{ rows: number }[]>`
    select count(*)::integer as rows from check_hours where hour = ${new Date(hour)}`;
  const checks = 60 * MONITORS;
  return [
    row("history: roll-up of an hour of 3.6 million checks", seconds, "s", { atMost: 60 }),
    row("history: its longest step", Math.max(...steps), "ms", { atMost: 2_000 }),
    row("history: its CPU in PostgreSQL", after.cpu - before.cpu, "s"),
    row("history: its WAL for each check", (after.walBytes - before.walBytes) / checks, "bytes"),
    row("history: its rows", counted?.rows ?? NaN, "rows", { atLeast: MONITORS }),
  ];
}

/** Reads single monitors at a fixed rate: 20 newest checks, and the summary of 90 days. */
async function benchReads(sql: Sql, now: number): Promise<Row[]> {
  const history = createHistory({
    timers: liveTimers,
    sql,
    clock: { ...systemClock, now: () => new Date(now) },
    log: pino({ level: "silent" }),
    retentionMs: KEPT,
    maintenanceBetween: NO_MAINTENANCE,
  });
  const createdAt = new Date(now - 200 * DAY_MS);
  const cpuOfServer = async () => {
    const rows = await sql<{ pid: number }[]>`select pid from pg_stat_activity where datname = current_database()`;
    return rows.reduce((sum, { pid }) => sum + readCpuSeconds(pid), 0);
  };
  const took: number[] = [];
  const lists: number[] = [];
  const reads: Promise<void>[] = [];
  // Connections open and prepare their statements.
  await Promise.all(Array.from({ length: 50 }, (_, index) => history.recentChecks({ id: index + 1, createdAt }, 20)));
  const cpu = { server: await cpuOfServer(), own: process.cpuUsage() };
  const begin = performance.now();
  for (let index = 0; index < READS_PER_SECOND * READ_SECONDS; index += 1) {
    await sleep(Math.max(0, begin + (index * 1_000) / READS_PER_SECOND - performance.now()));
    const id = ((index * 104_729) % MONITORS) + 1;
    const read = async (): Promise<void> => {
      const startedAt = performance.now();
      const [checks, summaries] = await Promise.all([
        history.recentChecks({ id, createdAt }, 20),
        history.summarise([{ id, accountId: 1, tags: [], createdAt }]),
      ]);
      took.push(performance.now() - startedAt);
      if (checks.length !== 20 || summaries.get(id)?.uptime.d90 === null) throw new Error("a read found nothing");
    };
    reads.push(read());
  }
  await Promise.all(reads);
  const own = process.cpuUsage(cpu.own);
  const perRead = {
    server: ((await cpuOfServer()) - cpu.server) / reads.length,
    own: (own.user + own.system) / 1e6 / reads.length,
  };
  for (let index = 0; index < 50; index += 1) {
    const monitors = Array.from({ length: 100 }, (_, offset) => index * 100 + offset + 1);
    const startedAt = performance.now();
    await history.summarise(monitors.map((id) => ({ id, accountId: 1, tags: [], createdAt })));
    lists.push(performance.now() - startedAt);
  }
  return [
    row("history: single monitor, 20 checks and 90 days, p50", quantile(took, 0.5), "ms"),
    row("history: single monitor, 20 checks and 90 days, p99", quantile(took, 0.99), "ms", { atMost: 20 }),
    row("history: CPU of PostgreSQL for one such read", perRead.server * 1e3, "ms"),
    row("history: CPU of this process for one such read", perRead.own * 1e3, "ms"),
    row("history: summaries of 100 monitors, p50", quantile(lists, 0.5), "ms"),
    row("history: summaries of 100 monitors, p99", quantile(lists, 0.99), "ms"),
  ];
}

const folder = mkdtempSync(join(tmpdir(), "vantage-history-"));
// Under root the database runs as nobody, which must be able to enter.
chmodSync(folder, 0o711);
const started = await startCluster({
  root: join(folder, "postgres"),
  // The disk is not under test, and checkpoints are made by hand.
  settings: { fsync: "off", synchronous_commit: "off", max_wal_size: "20GB", checkpoint_timeout: "1h" },
});
if (!started.ok) throw new Error(started.line);
const { cluster } = started;
try {
  await cluster.createDatabase("vantage");
  const url = cluster.url("vantage");
  await migrate(url);
  const one = connect(url, { name: "bench", connections: 1, statementTimeoutMs: 0 });
  const end = startOf(Date.now(), HOUR_MS);
  const filledAt = performance.now();
  await fill(one, end);
  await one`analyze`;
  const [size] = await one<{ heap: number; index: number; rows: number }[]>`
    select sum(pg_table_size(inhrelid))::float8 as heap, sum(pg_indexes_size(inhrelid))::float8 as index,
      (select count(*)::float8 from checks) as rows
    from pg_inherits where inhparent = 'checks'::regclass`;
  const rows = [
    row("history: rows", size?.rows ?? NaN, "rows"),
    row("history: time to fill", (performance.now() - filledAt) / 1_000, "s"),
    row("history: size of a row in the table", (size?.heap ?? NaN) / (size?.rows ?? NaN), "bytes"),
    row("history: size of a row in the index", (size?.index ?? NaN) / (size?.rows ?? NaN), "bytes"),
    ...(await benchInsertion(one, end)),
  ];
  for (const figure of rows) console.log(lineOf(figure));
  if (variant === "hour") {
    const many = connect(url, { name: "bench", connections: 10, statementTimeoutMs: 30_000 });
    const more = [...(await benchReads(many, end + 40 * MINUTE)), ...(await benchRollUp(one, end - HOUR_MS))];
    rows.push(...more);
    for (const figure of more) console.log(lineOf(figure));
    await many.end();
  }
  await one.end();
  if (!rows.every(holds)) process.exitCode = 1;
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
