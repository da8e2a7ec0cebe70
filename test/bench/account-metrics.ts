// A scrape of 1,000 monitors at three locations each, with 90 days of history, beside a bare Fastify route with the
// same bytes. Not part of npm run bench: `node test/bench/account-metrics.ts` prints what it measured and exits with 1
// if a limit was missed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sql } from "#control-plane/database/connect.ts";
import { startBareRoute } from "#test/bench/bare.ts";
import { fillRollUps } from "#test/bench/history/fill.ts";
import { holds, lineOf, quantile, row } from "#test/bench/report.ts";
import { openScene } from "#test/bench/watching/scene.ts";
import { HOUR_MS, startOf } from "#control-plane/monitors/history/period.ts";

const MONITORS = 1_000;
const LOCATIONS = ["ap-south", "eu-west", "us-east"];
const SCRAPES = 20;
const ROUNDS = 3;
/** The time within which a scrape is answered, milliseconds. */
const LIMIT_MS = 50;

/** Inserts monitors of the first account, each with a newest check at every location. */
async function fill(sql: Sql): Promise<void> {
  await sql`
    insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
      updated_at)
    select (select min(id) from accounts), 'Service ' || n, 'https://shop-' || n || '.example/health', 'http', 60, true,
      '{env:prod,team/web}', '{}', now() - interval '200 days', now()
    from generate_series(1, ${MONITORS}) as n`;
  const at = Date.now();
  const state = JSON.stringify({
    status: "up",
    changed: at - 1e8,
    since: at - 1e8,
    locations: LOCATIONS.map((location) => [location, "up", at, 500, at - 1e8]),
  });
  await sql`insert into monitor_states (monitor_id, status, state) select id, 'up', ${state} from monitors`;
  await sql`
    insert into monitor_slots (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds, planned_at,
      due_at, checked_at, lag_ms, response_ms, phases)
    select id, location, account_id, 3600, 0, 15, now() + interval '1 hour', now() + interval '1 hour', now(), 3, 87,
      '0,1234,20123,31456,34187'
    from monitors, unnest(${LOCATIONS}::text[]) as location`;
  await fillRollUps(sql, startOf(at, HOUR_MS));
  await sql`analyze`;
}

async function scrape(url: string, key: string): Promise<{ readonly ms: number; readonly text: string }> {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${key}`, "accept-encoding": "identity" };
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return { ms: performance.now() - startedAt, text };
}

const folder = mkdtempSync(join(tmpdir(), "vantage-metrics-"));
const scene = await openScene({ locations: 0 });
try {
  const { plane, sql, key } = scene;
  await fill(sql);
  const url = `${plane.url}/api/v4/metrics`;
  const cold = await scrape(url, key);
  const file = join(folder, "scrape");
  writeFileSync(file, cold.text);
  const bare = await startBareRoute(file, "text/plain");
  let best = Infinity;
  let bestBare = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const times: number[] = [];
    const bareTimes: number[] = [];
    for (let count = 0; count < SCRAPES; count += 1) {
      times.push((await scrape(url, key)).ms);
      bareTimes.push((await scrape(`http://127.0.0.1:${bare.port}/`, key)).ms);
    }
    best = Math.min(best, quantile(times, 0.5));
    bestBare = Math.min(bestBare, quantile(bareTimes, 0.5));
  }
  bare.stop();
  const rows = [
    row("metrics: size of a scrape", cold.text.length / 1_000, "KB"),
    row("metrics: series of a scrape", cold.text.split("\n").filter((line) => /^[a-z]/.test(line)).length, "series"),
    row("metrics: first scrape, with the uptimes of 90 days", cold.ms, "ms"),
    row("metrics: bare Fastify route, same bytes, median", bestBare, "ms"),
    row("metrics: scrape of 1,000 monitors at 3 locations, median", best, "ms", { atMost: LIMIT_MS }),
  ];
  for (const one of rows) console.log(lineOf(one));
  if (!rows.every(holds)) process.exitCode = 1;
} finally {
  await scene.end();
  rmSync(folder, { recursive: true, force: true });
}
