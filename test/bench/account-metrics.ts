// A scrape of 1,000 monitors at three locations each, with 90 days of history, beside a bare Fastify route with the
// same bytes, and one of 50 locations each, which is more than a scrape shows. Not part of npm run bench:
// `node test/bench/account-metrics.ts` prints what it measured and exits with 1 if a limit was missed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { HOUR_MS, startOf } from "#control-plane/outages/history/period.ts";
import { startBareRoute } from "#test/bench/bare.ts";
import { fillRollUps } from "#test/bench/history/fill.ts";
import { holds, lineOf, median, row } from "#test/bench/report.ts";
import { openScene } from "#test/bench/watching/scene.ts";

const MONITORS = 1_000;
const LOCATIONS = 3;
/** Locations of each monitor that the largest plan allows. */
const MOST_LOCATIONS = 50;
const SCRAPES = 10;
const ROUNDS = 3;
/** The time within which a scrape is answered, milliseconds. */
const LIMIT_MS = 50;
/** Scrapes of the same second have the same answer: each of these is computed. */
const APART_MS = 1_050;
/** The event loop's delay contains the interval of its own timer, milliseconds (perf_hooks.monitorEventLoopDelay). */
const TIMER_MS = 10;

/** Inserts monitors of the first account. */
async function fill(sql: Sql): Promise<void> {
  await sql`
    insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at,
      updated_at)
    select (select min(id) from accounts), 'Service ' || n, 'https://shop-' || n || '.example/health', 'http', 60, true,
      '{env:prod,team/web}', '{}', now() - interval '200 days', now()
    from generate_series(1, ${MONITORS}) as n`;
  await sql`insert into monitor_states (monitor_id, status, state) select id, 'up', '{}' from monitors`;
  await addChecks(sql, LOCATIONS);
  await fillRollUps(sql, startOf(Date.now(), HOUR_MS));
  await sql`analyze`;
}

/** Gives every monitor a newest check at each of this many locations. */
async function addChecks(sql: Sql, count: number): Promise<void> {
  const at = Date.now();
  const locations = Array.from({ length: count }, (_, index) => `region-${index + 1}`);
  const state = JSON.stringify({
    status: "up",
    changed: at - 1e8,
    since: at - 1e8,
    locations: locations.map((location) => [location, "up", at, 500, at - 1e8]),
  });
  await sql`update monitor_states set state = ${state}`;
  await sql`
    insert into monitor_slots (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds, planned_at,
      due_at, checked_at, lag_ms, response_ms, phases)
    select id, location, account_id, 3600, 0, 15, now() + interval '1 hour', now() + interval '1 hour', now(), 3, 87,
      '0,1234,20123,31456,34187'
    from monitors, unnest(${locations}::text[]) as location on conflict do nothing`;
}

interface Scraped {
  readonly ms: number;
  readonly text: string;
}

async function scrape(url: string, key: string): Promise<Scraped> {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${key}`, "accept-encoding": "identity" };
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return { ms: performance.now() - startedAt, text };
}

/** Returns the longest time since its last call that the event loop of the control plane was held, milliseconds. */
async function longestHold(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1] ?? "";
  return Number(seconds) * 1_000 - TIMER_MS;
}

const seriesOf = ({ text }: Scraped): number => text.split("\n").filter((line) => /^[a-z]/.test(line)).length;

const folder = mkdtempSync(join(tmpdir(), "vantage-metrics-"));
const scene = await openScene({ locations: 0 });
try {
  const { plane, sql, key, metricsUrl } = scene;
  await fill(sql);
  const url = `${plane.url}/api/v4/metrics`;
  const cold = await scrape(url, key);
  const file = join(folder, "scrape");
  writeFileSync(file, cold.text);
  const bare = await startBareRoute(file, "text/plain");

  /** Scrapes that are computed each, with the longest hold of the event loop in each of them. */
  async function scrapeOften(): Promise<{ readonly times: number[]; readonly holds: number[] }> {
    const times: number[] = [];
    const held: number[] = [];
    for (let count = 0; count < SCRAPES; count += 1) {
      await sleep(APART_MS);
      await longestHold(metricsUrl);
      times.push((await scrape(url, key)).ms);
      held.push(await longestHold(metricsUrl));
    }
    return { times, holds: held };
  }

  let best = Infinity;
  let bestBare = Infinity;
  const held: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const often = await scrapeOften();
    best = Math.min(best, median(often.times));
    held.push(...often.holds);
    const bareTimes: number[] = [];
    for (let count = 0; count < SCRAPES; count += 1)
      bareTimes.push((await scrape(`http://127.0.0.1:${bare.port}/`, key)).ms);
    bestBare = Math.min(bestBare, median(bareTimes));
  }
  bare.stop();
  await addChecks(sql, MOST_LOCATIONS);
  await sql`analyze`;
  await sleep(APART_MS);
  const large = await scrape(url, key);
  const largeOnes = await scrapeOften();
  const rows = [
    row("metrics: size of a scrape", cold.text.length / 1_000, "KB"),
    row("metrics: series of a scrape", seriesOf(cold), "series"),
    row("metrics: first scrape, with the uptimes of 90 days", cold.ms, "ms"),
    row("metrics: bare Fastify route, same bytes, median", bestBare, "ms"),
    row("metrics: scrape of 1,000 monitors at 3 locations, median", best, "ms", { atMost: LIMIT_MS }),
    row("metrics: longest hold of the event loop, median", median(held), "ms"),
    row("metrics: series of a scrape, 50 locations", seriesOf(large), "series", { atMost: 100_000 }),
    row("metrics: size of a scrape, 50 locations", large.text.length / 1_000, "KB"),
    row("metrics: scrape, 50 locations, median", median(largeOnes.times), "ms"),
    row("metrics: longest hold, 50 locations, median", median(largeOnes.holds), "ms"),
  ];
  for (const one of rows) console.log(lineOf(one));
  if (!rows.every(holds)) process.exitCode = 1;
} finally {
  await scene.end();
  rmSync(folder, { recursive: true, force: true });
}
