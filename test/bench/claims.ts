// node test/bench/claims.ts [monitors] [batch]: what the database does for the watching, without agents: due schedule
// entries are claimed and their checks recorded in batches over one connection. Prints CPU time of PostgreSQL and of
// this process, and WAL, for each check. Not part of npm run bench.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { CHECKS } from "#control-plane/outages/history/history.ts";
import { DAY_MS } from "#control-plane/outages/history/period.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { claimEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { planChecks } from "#control-plane/watching/checking/schedule/schedule.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { planRecord, type Finished } from "#control-plane/watching/checking/watch/plan-record.ts";
import { recordAll } from "#control-plane/watching/checking/watch/store.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import { lineOf, row } from "#test/bench/report.ts";
import { readCpuSeconds } from "#test/fleet/process-times.ts";

const monitors = Number(process.argv[2] ?? 60_000);
const batch = Number(process.argv[3] ?? 100);
const MINUTE = 60_000;
const FINDING = {
  verdict: "up",
  responseMs: 12,
  httpStatus: 200,
  fault: null,
  phases: { redirect_ms: 0, dns_ms: 1.234, connect_ms: 2.345, tls_ms: 4.567, processing_ms: 3.456 },
  fingerprint: "ab".repeat(32),
  whole: null,
} as const;

const folder = mkdtempSync(join(tmpdir(), "vantage-claims-"));
// Under root the database runs as nobody, which must be able to enter.
chmodSync(folder, 0o711);
const started = await startCluster({ root: join(folder, "postgres") });
if (!started.ok) throw new Error(started.line);
const { cluster } = started;
try {
  await cluster.createDatabase("vantage");
  await migrate(cluster.url("vantage"));
  const sql = connect(cluster.url("vantage"), { name: "bench", connections: 1, statementTimeoutMs: 0 });
  const begin = Math.floor(Date.now() / MINUTE) * MINUTE;
  await keepPartitions(sql, CHECKS, new Date(begin), 30 * DAY_MS);
  await sql`insert into accounts (plan, created_at, updated_at) values ('captain', now(), now())`;
  const settings = { ...DEFAULT_SETTINGS, locations: ["eu-west"] };
  await sql`
    insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
      updated_at)
    select 1, 'shop', 'http://shop.example/', 'http', 1, true, '{}', ${JSON.stringify(settings)}, now(), now()
    from generate_series(1, ${monitors})`;
  const ids = Array.from({ length: monitors }, (_, index) => index + 1);
  await insertStates(sql, ids);
  const planned = ids.map((id) => ({
    id,
    accountId: 1,
    locations: ["eu-west"],
    intervalSeconds: 60,
    timeoutSeconds: 15,
  }));
  await sql.begin((tx) => planChecks(tx, planned, new Date(begin)));
  await sql`analyze monitors, monitor_states, monitor_slots`;

  const watched = createWatchedMonitors();
  let lease = 0;
  /** Claims and records what is due at a time. */
  async function serve(now: number, most: number): Promise<number> {
    lease += 1;
    const entries = await claimEntries(sql, {
      now: new Date(now),
      most,
      lease,
      graceMs: 10_000,
      absent: [],
      withoutAgent: [],
      privateAccounts: [],
      fullAccounts: [],
    });
    const records = entries.map((entry) => {
      const { state, stateVersion } = entry;
      const finished: Finished = {
        entry,
        monitor: watched.of(entry),
        finding: FINDING,
        beganAt: now,
        lagMs: 5,
        isRecheck: false,
        withoutAgent: [],
        state,
        stateVersion,
      };
      return planRecord(finished, now).record;
    });
    if (records.length > 0) {
      const recorded = await recordAll(sql, records);
      if (recorded.size !== records.length) throw new Error(`${recorded.size} of ${records.length} were recorded`);
    }
    return entries.length;
  }

  // The first checks of all, which spread them over the minute.
  while ((await serve(begin, 1_000)) > 0);
  await serve(begin + MINUTE, batch);
  const backend = async () => {
    const [found] = await sql<{ pid: number; wal: number }[]>`
      select pg_backend_pid() as pid, (pg_current_wal_lsn() - '0/0')::float8 as wal`;
    if (found === undefined) throw new Error("no answer");
    return { wal: found.wal, cpu: readCpuSeconds(found.pid) };
  };
  const before = await backend();
  const own = process.cpuUsage();
  const startedAt = performance.now();
  let done = 0;
  const rounds = Math.ceil((Math.min(monitors, 60_000) / batch) * 2);
  const stepMs = (MINUTE / monitors) * batch;
  let now = begin + MINUTE;
  for (let round = 0; round < rounds; round += 1) {
    now += stepMs;
    done += await serve(now, batch);
  }
  const after = await backend();
  const { user, system } = process.cpuUsage(own);
  const each = (seconds: number) => (seconds / done) * 1e6;
  const rows = [
    row(`claims: checks in batches of ${batch}`, done, "checks"),
    row("claims: CPU of PostgreSQL for one check", each(after.cpu - before.cpu), "us"),
    row("claims: CPU of this process for one check", each((user + system) / 1e6), "us"),
    row("claims: WAL of one check", (after.wal - before.wal) / done, "bytes"),
    row("claims: checks by one connection", done / ((performance.now() - startedAt) / 1_000), "checks/s"),
  ];
  for (const figure of rows) console.log(lineOf(figure));
  await sql.end();
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
