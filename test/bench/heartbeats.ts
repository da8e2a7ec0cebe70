// Heartbeats with real processes on one machine: the control plane and the embedded PostgreSQL as the product starts it.
// Not part of npm run bench: `node test/bench/heartbeats.ts` prints what it measured and exits with 1 if a limit was
// missed.
//
//   --seconds 10     length of one steady run; there are three
//   --connections 50 requests in flight of a steady run
//   --due 100000     heartbeats whose deadlines are spread over one minute; 0 leaves this part out
//   --profile DIR    writes CPU profiles of the control plane
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { startBareRoute } from "#test/bench/bare.ts";
import { runLoad } from "#test/bench/load.ts";
import { holds, lineOf, row, type Row } from "#test/bench/report.ts";
import { openScene } from "#test/bench/watching/scene.ts";

const GENERATOR = fileURLToPath(new URL("heartbeats/generator.ts", import.meta.url));
const AT_ONCE = 1_000;

interface Report {
  readonly seconds: number;
  readonly answered: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  readonly statuses: Readonly<Record<string, number>>;
}

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    connections: { type: "string", default: "50" },
    due: { type: "string", default: "100000" },
    profile: { type: "string" },
  },
});
const due = Number(values.due);
const heartbeats = Math.max(10_000, due);
const rows: Row[] = [];
const say = (...figures: Row[]): void => {
  for (const figure of figures) {
    rows.push(figure);
    console.log(lineOf(figure));
  }
};
const scene = await openScene({ locations: 0, profile: values.profile });
const tokensFile = join(tmpdir(), `vantage-tokens-${process.pid}.txt`);
let addresses = 0;

/** Runs the generator; each run has addresses that no other has. */
async function send(options: Readonly<Record<string, string | number>>): Promise<Report> {
  const all = { port: Number(new URL(scene.plane.url).port), tokens: tokensFile, from: addresses, ...options };
  addresses += 60_000;
  const flags = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [GENERATOR, ...flags]);
  if (stderr !== "") console.log(stderr.trim());
  return JSON.parse(stdout) as Report;
}

async function countPings(): Promise<number> {
  const [found] = await scene.sql<{ sum: number }[]>`select sum(ping_count)::bigint as sum from heartbeats`;
  return found?.sum ?? 0;
}

async function createHeartbeats(): Promise<void> {
  const tokens: string[] = [];
  for (let done = 0; done < heartbeats; done += AT_ONCE) {
    const monitors = Array.from({ length: AT_ONCE }, (_, index) => ({
      name: `Job ${done + index + 1}`,
      check_type: "heartbeat",
      heartbeat: { period_seconds: 86_400 },
    }));
    const { plane, key } = scene;
    const answer = await plane.call("/api/v4/monitors?action=import", { key, body: { version: 1, monitors } });
    if (answer.status !== 201) throw new Error(answer.text.slice(0, 500));
  }
  for (let page = 1; tokens.length < heartbeats; page += 1) {
    const answer = await scene.plane.call(`/api/v4/monitors?per_page=100&page=${page}`, { key: scene.key });
    const found = answer.body.data as readonly { readonly heartbeat_url: string }[];
    tokens.push(...found.map(({ heartbeat_url: url }) => url.slice(url.lastIndexOf("/") + 1)));
  }
  writeFileSync(tokensFile, tokens.join("\n"));
}

function refused({ statuses }: Report): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => sum + (status === "200" ? 0 : count), 0);
}

async function measureBare(): Promise<void> {
  const file = join(tmpdir(), `vantage-bare-${process.pid}.json`);
  writeFileSync(file, '{"status":"ok","next_ping_expected":1700000000}');
  const bare = await startBareRoute(file);
  say(
    row(
      "heartbeats: bare Fastify route of this run",
      (await runLoad({ port: bare.port, path: "/" })).rate,
      "requests/s",
    ),
  );
  bare.stop();
}

async function measureSteady(): Promise<void> {
  for (let round = 1; round <= 3; round += 1) {
    const before = await countPings();
    const report = await send({ seconds: values.seconds, connections: values.connections });
    say(
      row(`heartbeats: pings, run ${round}`, report.rate, "pings/s", { atLeast: 3_000 }),
      row(`heartbeats: time to the answer, p50, run ${round}`, report.p50, "ms"),
      row(`heartbeats: time to the answer, p99, run ${round}`, report.p99, "ms", { atMost: 50 }),
      row(`heartbeats: answers other than 200, run ${round}`, refused(report), "answers", { atMost: 0 }),
      row(
        `heartbeats: answered but not recorded, run ${round}`,
        report.answered - ((await countPings()) - before),
        "pings",
        {
          atMost: 0,
        },
      ),
    );
  }
}

async function measureBurst(): Promise<void> {
  const before = await countPings();
  const report = await send({ mode: "burst", connections: 2_000, requests: 30_000 });
  say(
    row("heartbeats: burst of 30,000 within 1 s, until the last answer", report.most / 1_000, "s", { atMost: 15 }),
    row("heartbeats: burst, answered", report.answered, "pings", { atLeast: 30_000 }),
    row("heartbeats: burst, answers other than 200", refused(report), "answers", { atMost: 0 }),
    row("heartbeats: burst, answered but not recorded", report.answered - ((await countPings()) - before), "pings", {
      atMost: 0,
    }),
  );
}

/** Makes heartbeats that are up late within a minute, and reads when the sweeper found them. */
async function measureSweep(): Promise<void> {
  const { sql, metricsUrl } = scene;
  await send({ seconds: 300, connections: 50, most: due });
  const unjudged = async () => sql`select from heartbeats where verdict_number > judged_number limit 1`;
  while ((await unjudged()).length > 0) await sleep(100);
  const [up] = await sql<{ count: number }[]>`select count(*) from monitor_states where status = 'up'`;
  if ((up?.count ?? 0) < due) throw new Error(`only ${up?.count} heartbeats are up`);
  await sql`vacuum analyze`;
  await sql`
    update heartbeats set deadline_at = times.at, sweep_at = times.at, version = version + 1
    from (
      select monitor_id, now() + interval '15 s' + (row_number() over (order by random())) * interval '60 s' / ${due}::float8 as at
      from heartbeats
    ) as times where heartbeats.monitor_id = times.monitor_id`;
  const before = await readLag(metricsUrl);
  for (let waited = 0; waited < 120; waited += 1) {
    await sleep(1_000);
    const [left] = await sql<{ count: number }[]>`select count(*) from monitor_states where status = 'up'`;
    if (left?.count === 0) break;
  }
  const after = await readLag(metricsUrl);
  const count = (after.get("+Inf") ?? 0) - (before.get("+Inf") ?? 0);
  const within = (bound: string): number => (((after.get(bound) ?? 0) - (before.get(bound) ?? 0)) / count) * 100;
  say(
    row("heartbeats: late ones that were found", count, "heartbeats", { atLeast: due }),
    ...["0.25", "0.5", "1"].map((bound) => row(`heartbeats: found within ${bound} s`, within(bound), "%")),
    row("heartbeats: found within 2 s", within("2"), "%", { atLeast: 99 }),
  );
  const [incidents] = await sql<{ count: number }[]>`select count(*) from incidents where resolved_at is null`;
  say(row("heartbeats: open incidents", incidents?.count ?? 0, "incidents", { atLeast: due, atMost: due }));
}

/** Reads the buckets of the lag, by their bounds. */
async function readLag(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(url)).text();
  const found = text.matchAll(/^vantage_heartbeat_deadline_lag_seconds_bucket\{le="([^"]+)"\} (\d+)/gm);
  return new Map(Array.from(found, ([, bound = "", count = "0"]) => [bound, Number(count)] as const));
}

try {
  say(row("heartbeats: load average before", loadavg()[0] ?? 0, ""));
  await measureBare();
  const createdAt = performance.now();
  await createHeartbeats();
  say(row("heartbeats: time to create and list them", (performance.now() - createdAt) / 1_000, "s"));
  // The first ping of each changes its status.
  await send({ seconds: 120, connections: 50, most: heartbeats });
  await measureSteady();
  await measureBurst();
  if (due > 0) await measureSweep();
  await measureBare();
} finally {
  await scene.end();
}
if (!rows.every(holds)) process.exitCode = 1;
