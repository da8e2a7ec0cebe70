// Every page of the dashboard for an account with 1,000 monitors and a day of checks, and its status page: time of the
// first view, when nothing that views share is known, and of later ones, octets, statements, and how long the event loop
// was held. The control plane runs in this process, so that its routes are known and its event loop can be watched. Not
// part of npm run bench: `node test/bench/dashboard.ts` prints a table and exits with 1 if a limit was missed;
// `-- TEXT` measures the paths that contain the text.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { fillLargeAccount, type LargeAccount } from "#test/bench/dashboard/account.ts";
import { median, quantile } from "#test/bench/report.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { noteDashboardRoutes } from "#test/support/dashboard-routes.ts";
import { pathsOf } from "#test/support/dashboard-world.ts";
import { COOKIE } from "#test/support/dashboard.ts";
import { askWire } from "#test/support/raw-http.ts";

/** Limits of a first view: milliseconds and octets as sent. */
const MOST_MS = 300;
const MOST_OCTETS = 100 * 1_024;
/** The longest that a view may hold the event loop, milliseconds. */
const MOST_HELD_MS = 50;
/** First views of each page, and later ones. Other programs disturb single ones. */
const FIRST = 3;
const LATER = 15;
/** Visitors of a status page at once: fewer than the views of an address in a minute. */
const VISITORS = 50;
/** Longer than anything that views share is used, milliseconds. */
const APART_MS = 61_000;
/** The event loop's delay contains the interval of its own timer (perf_hooks.monitorEventLoopDelay). */
const RESOLUTION_MS = 1;
/** Nothing is checked before. */
const FAR_OFF = new Date(Date.now() + 365 * 86_400_000);
/** Steps without anything that is due before views are measured, and how long each of them is. */
const CALM_STEPS = 3;
const CALM_MS = 300;
/** Time for the event loop to be idle before and after a view. */
const TURN_MS = 5;
/** What browsers accept. */
const CODINGS = "gzip, deflate, br, zstd";
const MOST = 1_000_000_000;
const PLANS = {
  ...BUILT_IN_PLANS,
  captain: { ...BUILT_IN_PLANS.captain, requestsPerMinute: MOST, requestsPerDay: MOST },
};
const NO_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

/** A page as measured; times in milliseconds. */
interface View {
  readonly path: string;
  readonly status: number;
  readonly first: number;
  readonly later: readonly number[];
  readonly octets: number;
  readonly plain: number;
  /** Time of the processor in this process, without that of the database. */
  readonly cpu: number;
  readonly held: number;
  /** Statements of the first view and of a later one. */
  readonly statements: readonly [number, number];
}

/** Views beside the plain paths of the routes: what an address chooses, and what visitors see. */
const morePaths = ({ monitors, slug }: LargeAccount): readonly string[] => [
  "/app/monitors?rows=1000",
  "/app/monitors?state=failing",
  "/app/monitors?q=service+1",
  "/app/monitors?tag=team-3",
  "/app/monitors?kind=dns&sort=name",
  ...["d7", "d30", "d90"].map((range) => `/app/monitors/${monitors.http}?range=${range}`),
  `/app/monitors/${monitors.http}/checks?verdict=down`,
  `/app/monitors/${monitors.http}/checks?verdict=degraded`,
  "/app/incidents?state=resolved",
  "/app/incidents?page=5",
  `/app/incidents?monitor=${monitors.http}`,
  "/app/changes?page=3",
  `/status/${slug}`,
  `/status/${slug}/history`,
  `/status/${slug}/summary.json`,
  `/status/${slug}/feed.atom`,
];

const folder = mkdtempSync(join(tmpdir(), "vantage-dashboard-"));
// Under root the database runs as nobody, which must be able to enter.
chmodSync(folder, 0o711);
const started = await startCluster({
  root: join(folder, "postgres"),
  settings: { shared_preload_libraries: "pg_stat_statements" },
});
if (!started.ok) throw new Error(started.line);
const { cluster } = started;
await cluster.createDatabase("vantage");
const databaseUrl = cluster.url("vantage");
await migrate(databaseUrl);
const sql = connect(databaseUrl, { name: "bench", connections: 1, statementTimeoutMs: 0 });
await sql`create extension pg_stat_statements`;

const routes = noteDashboardRoutes();
const manual = createManualClock(new Date());
// It runs between the steps too: else no computation would make room for others, and the event loop would be held.
const clock = { ...manual, monotonic: () => manual.monotonic() + performance.now() };
const mail = { server: NO_SERVER, from: "Vantage <alerts@example.com>" };
const plane = await startControlPlane({
  databaseUrl,
  overrides: { clock },
  plans: PLANS,
  config: { mail, signUp: "open" },
});
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();

/** Plans what is due for much later, until nothing is: claims from before the account was filled come back one by one. */
async function calm(): Promise<void> {
  for (let quiet = 0; quiet < CALM_STEPS; quiet += 1) {
    const { count: slots } = await sql`
      update monitor_slots set planned_at = ${FAR_OFF}, due_at = ${FAR_OFF}, extra_at = null
      where due_at < ${FAR_OFF} or extra_at is not null`;
    const { count: targets } = await sql`update expiry_targets set next_at = ${FAR_OFF} where next_at < ${FAR_OFF}`;
    if (slots + targets > 0) quiet = -1;
    clock.advance(APART_MS);
    await sleep(CALM_MS);
  }
}

/** Statements that the database has run so far, without those of this count. */
async function countStatements(on: Sql): Promise<number> {
  const [row] = await on<{ calls: number }[]>`
    select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements
    where query not ilike '%pg_stat_statements%' and query not ilike 'begin%' and query not ilike 'commit%'`;
  return row?.calls ?? NaN;
}

/** Loads a path once. */
async function load(path: string, cookie: string) {
  await sleep(TURN_MS);
  delay.reset();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const answer = await askWire(`${plane.url}${path}`, { cookie, "accept-encoding": CODINGS });
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  await sleep(TURN_MS);
  return { ...answer, ms, cpu: (user + system) / 1_000, held: Math.max(0, delay.max / 1e6 - RESOLUTION_MS) };
}

async function loadCounted(path: string, cookie: string) {
  const before = await countStatements(sql);
  const loaded = await load(path, cookie);
  return { ...loaded, statements: (await countStatements(sql)) - before };
}

type Loaded = Awaited<ReturnType<typeof loadCounted>>;

async function measure(path: string, cookie: string): Promise<View> {
  const firsts: Loaded[] = [];
  for (let count = 0; count < FIRST; count += 1) {
    clock.advance(APART_MS);
    // The session stays one whose password was given just now.
    await sql`update sessions set signed_in_at = ${clock.now()}, used_at = ${clock.now()}`;
    firsts.push(await loadCounted(path, cookie));
  }
  const later: Loaded[] = [];
  for (let count = 0; count < LATER; count += 1) later.push(await loadCounted(path, cookie));
  const plain = await askWire(`${plane.url}${path}`, { cookie, "accept-encoding": "identity" });
  const [first] = firsts;
  if (first === undefined) throw new Error("there is no first view");
  return {
    path,
    status: first.status,
    first: median(firsts.map(({ ms }) => ms)),
    later: later.map(({ ms }) => ms),
    cpu: Math.min(...firsts.map(({ cpu }) => cpu)),
    octets: first.body.length,
    plain: plain.body.length,
    held: Math.max(...[firsts, later].map((views) => Math.min(...views.map(({ held }) => held)))),
    // The service has statements of its own meanwhile.
    statements: [
      Math.min(...firsts.map(({ statements }) => statements)),
      Math.min(...later.map(({ statements }) => statements)),
    ],
  };
}

/** Many visitors of a page at once, when nothing of it is known: the last answer's time, and the statements for all. */
async function measureRush(path: string): Promise<string> {
  clock.advance(APART_MS);
  await sleep(TURN_MS);
  const before = await countStatements(sql);
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: VISITORS }, async () => {
      const { status } = await askWire(`${plane.url}${path}`, { "accept-encoding": CODINGS });
      return { status, ms: performance.now() - startedAt };
    }),
  );
  if (answers.some(({ status }) => status !== 200)) throw new Error(`${path}: ${JSON.stringify(answers)}`);
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  const statements = (await countStatements(sql)) - before;
  return `${path}: ${VISITORS} visitors at once, all served after ${slowest.toFixed(0)} ms, by ${statements} statements`;
}

const COLUMNS = ["first ms", "median", "p95", "CPU ms", "held ms", "KB sent", "KB plain", "statements"];

function lineOf({ path, status, first, later, octets, plain, cpu, held, statements }: View): string {
  const figures = [
    first.toFixed(0),
    median(later).toFixed(1),
    quantile(later, 0.95).toFixed(1),
    cpu.toFixed(0),
    held.toFixed(0),
    (octets / 1_024).toFixed(1),
    (plain / 1_024).toFixed(0),
    statements.join(" / "),
  ];
  const missed = faultsOf({ first, octets, held }).join(", ");
  return `${path.padEnd(46)} ${status} ${figures.map((figure) => figure.padStart(10)).join("")}  ${missed}`;
}

function faultsOf({ first, octets, held }: Pick<View, "first" | "octets" | "held">): readonly string[] {
  return [
    ...(first > MOST_MS ? [`> ${MOST_MS} ms`] : []),
    ...(octets > MOST_OCTETS ? [`> ${MOST_OCTETS / 1_024} KB`] : []),
    ...(held > MOST_HELD_MS ? [`held > ${MOST_HELD_MS} ms`] : []),
  ];
}

try {
  const account = await fillLargeAccount(plane, sql, clock.now().getTime());
  await calm();
  const pages = routes.filter(({ method, url }) => method === "GET" && url.startsWith("/app/"));
  const paths = [...pages.flatMap(({ url }) => pathsOf(url, account)), ...morePaths(account)];
  const wanted = process.argv.slice(2).find((text) => text !== "--") ?? "";
  const cookie = `${COOKIE}=${account.owner.cookie}`;
  console.log(`${"view".padEnd(50)} ${COLUMNS.map((name) => name.padStart(10)).join("")}`);
  // What only the very first page of a process pays: code, connections.
  await load("/app/profile", cookie);
  let faults = 0;
  for (const path of new Set(paths)) {
    if (!path.includes(wanted)) continue;
    const view = await measure(path, cookie);
    faults += faultsOf(view).length;
    console.log(lineOf(view));
  }
  console.log(await measureRush(`/status/${account.slug}`));
  if (faults > 0) process.exitCode = 1;
} finally {
  delay.disable();
  await plane.stop();
  await sql.end();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
