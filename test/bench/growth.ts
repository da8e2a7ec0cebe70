// What the product costs as it grows: the cost of one check, one job, one delivery or one read must not depend on how many
// monitors, agents, rows, webhooks or replicas there are. deploy/capacity.md is made of these figures. Runs as a section
// of npm run bench, and alone: `node test/bench/growth.ts --parts monitors,agents,rows,webhooks,replicas`.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { insertDeliveries, measureRate } from "#test/bench/deliveries/queue.ts";
import { openScene as openDeliveries } from "#test/bench/deliveries/scene.ts";
import { fillHistory } from "#test/bench/history/fill.ts";
import { lineOf, quantile, row, type Row } from "#test/bench/report.ts";
import { measureHighest } from "#test/bench/watching/measure.ts";
import { createMonitors, waitForFirstChecks } from "#test/bench/watching/monitors.ts";
import { measureReads, READS_PER_SECOND } from "#test/bench/watching/reads.ts";
import { openScene as openWatching, type Scene as Watching } from "#test/bench/watching/scene.ts";
import { PARTS, readUsage, type Measured, type Part, type Usage } from "#test/bench/watching/usage.ts";
import { openScene as openFleet } from "#test/fleet/scenario.ts";

/** Checks a minute in every measurement of monitors and rows, so that only their number differs. */
const CHECKS_PER_MINUTE = 1_000;
const LOOK_SECONDS = 60;
/** The highest rate is that of so many checks at least, or of this time. */
const HIGHEST_SECONDS = 60;
const READ_SECONDS = 10;
/** Time in which caches and heaps of a new scene settle. */
const SETTLE_MS = 15_000;
const JOBS_PER_SECOND = 200;
const DELIVERIES = 10_000;
/** Regions of the simulated agents: each has several agents where there are more. */
const MOST_REGIONS = 60;
/** Simulated agents of one process. */
const AGENTS_EACH = 100;

type Say = (...figures: Row[]) => void;
const sizeOf = (count: number) => count.toLocaleString("en-US");

/** What is measured at which sizes. */
const GROWTH: Readonly<Record<string, (say: Say) => Promise<void>>> = {
  async monitors(say) {
    for (const count of [1_000, 10_000, 100_000]) await growMonitors(say, count);
  },
  async rows(say) {
    for (const count of [0, 1_000_000, 10_000_000]) await growRows(say, count);
  },
  async replicas(say) {
    for (const count of [1, 2, 4]) await growReplicas(say, count);
  },
  async agents(say) {
    for (const count of [1, 10, 100, 1_000]) await growAgents(say, count);
  },
  async webhooks(say) {
    for (const count of [1, 10, 100, 1_000]) await growWebhooks(say, count);
  },
};

/** Measures all parts, or those named, and passes each figure on as soon as it is known. */
export async function benchGrowth(say: Say, parts: readonly string[] = Object.keys(GROWTH)): Promise<void> {
  for (const part of parts) {
    const measure = GROWTH[part];
    if (measure === undefined) throw new Error(`${part}: the parts are ${Object.keys(GROWTH).join(", ")}`);
    await measure(say);
  }
}

async function growMonitors(say: Say, count: number): Promise<void> {
  const name = `growth, ${sizeOf(count)} monitors`;
  const scene = await openWatching({ locations: 1 });
  try {
    const without = await readUsage(scene);
    const createdAt = performance.now();
    await createMonitors(scene, count, count / CHECKS_PER_MINUTE);
    say(row(`${name}: creation of 1,000`, (performance.now() - createdAt) / (count / 1_000), "ms"));
    await waitForFirstChecks(scene);
    await sleep(SETTLE_MS);
    say(...(await lookAt(name, scene)));
    const { memory } = await readUsage(scene);
    for (const part of PARTS)
      say(row(`${name}: memory of a monitor, ${part}`, ((memory[part] - without.memory[part]) * 1_024) / count, "KB"));
    say(...(await readPages(name, scene)));
    say(...(await readOne(name, scene)));
    say(...renamed(name, await measureHighest(scene, HIGHEST_SECONDS)));
  } finally {
    await scene.end();
  }
}

async function growRows(say: Say, count: number): Promise<void> {
  const name = `growth, ${sizeOf(count)} rows of checks`;
  const monitors = 10_000;
  const scene = await openWatching({ locations: 1 });
  try {
    await createMonitors(scene, monitors, monitors / CHECKS_PER_MINUTE);
    if (count > 0) await fillHistory(scene.sql, { now: Date.now(), rows: count });
    await waitForFirstChecks(scene);
    // What autovacuum and the next checkpoint do for new rows is not the cost of a check.
    await scene.sql`vacuum analyze`;
    await scene.sql`checkpoint`;
    await sleep(SETTLE_MS);
    say(...(await lookAt(name, scene)));
    say(...(await readPages(name, scene)));
    say(...(await readOne(name, scene)));
    if (count > 0) say(...(await readSizes(name, scene)));
  } finally {
    await scene.end();
  }
}

async function growReplicas(say: Say, count: number): Promise<void> {
  const name = `growth, ${sizeOf(count)} replicas`;
  const scene = await openWatching({ locations: 1, replicas: count });
  try {
    await createMonitors(scene, 6_000);
    await waitForFirstChecks(scene);
    await sleep(SETTLE_MS);
    say(...(await lookAt(name, scene)));
    say(...renamed(name, await measureHighest(scene, HIGHEST_SECONDS)));
  } finally {
    await scene.end();
  }
}

async function growAgents(say: Say, count: number): Promise<void> {
  const name = `growth, ${sizeOf(count)} agents`;
  const folder = mkdtempSync(join(tmpdir(), "vantage-growth-"));
  // Under root the database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  const started = await startCluster({ root: join(folder, "postgres") });
  if (!started.ok) throw new Error(started.line);
  const { cluster } = started;
  try {
    await cluster.createDatabase("vantage");
    const databaseUrl = cluster.url("vantage");
    const work = join(folder, "work");
    mkdirSync(work);
    const processes = Math.ceil(count / AGENTS_EACH);
    const size = { processes, agentsEach: count / processes, regions: Math.min(count, MOST_REGIONS) };
    const scene = await openFleet({ databaseUrl, size, folder: work, seed: 1 });
    const sql = connect(databaseUrl, { name: "bench", connections: 1, statementTimeoutMs: 0 });
    const roots = { "control plane": [scene.plane.pid], agents: [], PostgreSQL: [cluster.server.pid] };
    try {
      await scene.run({ callsPerSecond: JOBS_PER_SECOND, perCall: 1, seconds: 10 });
      scene.checkCalls();
      const idle = await spend({ roots, sql }, () => sleep(LOOK_SECONDS * 1_000));
      say(
        row(`${name}: idle, control plane`, idle.share["control plane"], "% of a core"),
        row(`${name}: idle, PostgreSQL`, idle.share.PostgreSQL, "% of a core"),
        row(`${name}: idle, WAL`, idle.wal / idle.seconds, "bytes/s"),
        row(`${name}: memory of the control plane (PSS)`, idle.after.memory["control plane"], "MB"),
      );
      const busy = await spend({ roots, sql }, () =>
        scene.run({ callsPerSecond: JOBS_PER_SECOND, perCall: 1, seconds: LOOK_SECONDS }),
      );
      const check = scene.checkCalls();
      const jobs = JOBS_PER_SECOND * LOOK_SECONDS;
      say(
        row(`${name}: CPU of one job, control plane`, (busy.cpu["control plane"] / jobs) * 1e6, "us"),
        row(`${name}: CPU of one job, PostgreSQL`, (busy.cpu.PostgreSQL / jobs) * 1e6, "us"),
        row(`${name}: dispatch overhead at ${JOBS_PER_SECOND}/s, p50`, quantile(check.untouched, 0.5), "ms"),
        row(`${name}: dispatch overhead at ${JOBS_PER_SECOND}/s, p99`, quantile(check.untouched, 0.99), "ms"),
      );
    } finally {
      await sql.end();
      await scene.end();
    }
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function growWebhooks(say: Say, count: number): Promise<void> {
  const name = `growth, ${sizeOf(count)} webhooks`;
  const scene = await openDeliveries(count, undefined);
  try {
    // Connections to the receivers and prepared statements are not the cost of a delivery.
    await insertDeliveries(scene, { count: 1_000, prefix: "first-" });
    await measureRate(scene, "first-");
    await insertDeliveries(scene, { count: DELIVERIES, prefix: "grown-", delaySeconds: 3_600 });
    await scene.sql`update deliveries set is_ready = true, due_at = now() where event_id like 'evt_grown-%'`;
    let rate = NaN;
    const spent = await spend(scene, async () => {
      rate = await measureRate(scene, "grown-");
    });
    say(
      row(`${name}: rate`, rate, "deliveries/s"),
      row(`${name}: CPU of one delivery, control plane`, (spent.cpu["control plane"] / DELIVERIES) * 1e6, "us"),
      row(`${name}: CPU of one delivery, PostgreSQL`, (spent.cpu.PostgreSQL / DELIVERIES) * 1e6, "us"),
      row(`${name}: WAL of one delivery`, spent.wal / DELIVERIES, "bytes"),
    );
  } finally {
    await scene.end();
  }
}

/** CPU seconds by part, and as percentages of a core, during some work. */
interface Spent {
  readonly cpu: Readonly<Record<Part, number>>;
  readonly share: Readonly<Record<Part, number>>;
  readonly wal: number;
  readonly seconds: number;
  readonly after: Usage;
}

async function spend(measured: Measured, work: () => Promise<unknown>): Promise<Spent> {
  const before = await readUsage(measured);
  await work();
  const after = await readUsage(measured);
  const seconds = (after.at - before.at) / 1_000;
  const byPart = (of: (part: Part) => number) =>
    Object.fromEntries(PARTS.map((part) => [part, of(part)])) as Record<Part, number>;
  const cpu = byPart((part) => after.cpu[part] - before.cpu[part]);
  return { cpu, share: byPart((part) => (cpu[part] / seconds) * 100), wal: after.wal - before.wal, seconds, after };
}

/** Looks at the watching as it goes on. */
async function lookAt(name: string, scene: Watching): Promise<Row[]> {
  const since = new Date();
  const spent = await spend(scene, () => sleep(LOOK_SECONDS * 1_000));
  const [found] = await scene.sql<{ count: number; lag: number }[]>`
    select count(*)::integer as count, coalesce(percentile_cont(0.99) within group (order by lag_ms), 0) as lag
    from checks where checked_at >= ${since} and not is_recheck`;
  const { count, lag } = found ?? { count: NaN, lag: NaN };
  return [
    row(`${name}: checks`, count / spent.seconds, "checks/s"),
    ...PARTS.map((part) => row(`${name}: ${part}`, spent.share[part], "% of a core")),
    row(`${name}: WAL of one check`, spent.wal / count, "bytes"),
    row(`${name}: schedule lag, p99`, lag, "ms"),
  ];
}

/** Reads what a row takes on the disk, with its index. */
async function readSizes(name: string, { sql }: Watching): Promise<Row[]> {
  const [size] = await sql<{ checks: number; hours: number; days: number }[]>`
    select (select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = 'checks'::regclass)::float8
        / (select count(*) from checks) as checks,
      pg_total_relation_size('check_hours')::float8 / (select count(*) from check_hours) as hours,
      pg_total_relation_size('check_days')::float8 / (select count(*) from check_days) as days`;
  return [
    row(`${name}: size of a check`, size?.checks ?? NaN, "bytes"),
    row(`${name}: size of an hour of a monitor`, size?.hours ?? NaN, "bytes"),
    row(`${name}: size of a day of a monitor`, size?.days ?? NaN, "bytes"),
  ];
}

/** Reads pages of the list of monitors through the API, one after the other. */
async function readPages(name: string, { plane, key }: Watching): Promise<Row[]> {
  const took: Record<"first" | "last", number[]> = { first: [], last: [] };
  const first = await plane.call("/api/v4/monitors?per_page=100", { key });
  const last = (first.body.meta as { pagination?: { total_pages?: number } }).pagination?.total_pages ?? 1;
  for (let round = 0; round < 20; round += 1)
    for (const [which, page] of [
      ["first", 1],
      ["last", last],
    ] as const) {
      const startedAt = performance.now();
      const answer = await plane.call(`/api/v4/monitors?per_page=100&page=${page}`, { key });
      if (answer.status !== 200) throw new Error(answer.text.slice(0, 500));
      took[which].push(performance.now() - startedAt);
    }
  return [
    row(`${name}: first page of 100 monitors, p50`, quantile(took.first, 0.5), "ms"),
    row(`${name}: last page of 100 monitors, p50`, quantile(took.last, 0.5), "ms"),
  ];
}

/** Reads single monitors while the watching goes on, whose cost is taken off. */
async function readOne(name: string, scene: Watching): Promise<Row[]> {
  const without = await spend(scene, () => sleep(READ_SECONDS * 1_000));
  let figures: Row[] = [];
  const spent = await spend(scene, async () => {
    figures = await measureReads(scene, READ_SECONDS);
  });
  const cost = (part: Part) => ((spent.share[part] - without.share[part]) / 100 / READS_PER_SECOND) * 1e6;
  return [
    ...renamed(name, figures),
    row(`${name}: CPU of one read, control plane`, cost("control plane"), "us"),
    row(`${name}: CPU of one read, PostgreSQL`, cost("PostgreSQL"), "us"),
  ];
}

/** Gives figures of another measurement the name of this one. Their limits are for other sizes. */
function renamed(name: string, figures: readonly Row[]): Row[] {
  return figures.map(({ what, value, unit }) => row(what.replace(/^watching/, name), value, unit));
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { parts: { type: "string" } } });
  await benchGrowth((...figures) => figures.forEach((figure) => console.log(lineOf(figure))), values.parts?.split(","));
}
