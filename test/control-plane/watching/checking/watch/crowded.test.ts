import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import { insertEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { startWatch, type Watch } from "#control-plane/watching/checking/watch/watch.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { createPacer } from "#control-plane/checks/target-pacer.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { ago } from "#test/support/ago.ts";
import { attachAgent, type AttachedAgent } from "#test/support/attached-agent.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { liveTimers } from "#test/support/timers.ts";

const log = pino({ level: "silent" });
const SECONDS = 1_000;

let database: TestDatabase;
let sql: Sql;
let hub: Hub;
let watch: Watch;
let agent: AttachedAgent;
let beats: NodeJS.Timeout;
/** Jobs that the agent runs now, and the most at one time, by host. */
let atOnce: Map<string, { now: number; most: number }>;

const hostOf = (job: Job): string => new URL((JSON.parse(job.params) as { url: string }).url).host;

/** Answers the job at once; hosts named "slow" let the check run into its time limit of a second. */
function work(job: Job): void {
  const host = hostOf(job);
  const count = atOnce.get(host) ?? { now: 0, most: 0 };
  atOnce.set(host, { now: count.now + 1, most: Math.max(count.most, count.now + 1) });
  const isSlow = host.startsWith("slow");
  const fault = failed("response", "target", "timeout", "No answer within 1 s");
  const up = { verdict: "up", response_ms: 5, http_status: 200, fault: null, whole: null, elapsed_ms: 5 };
  const outcome: Outcome<unknown> = isSlow ? fault : ok(up);
  setTimeout(
    () => {
      const counted = atOnce.get(host);
      if (counted !== undefined) counted.now -= 1;
      if (!agent.closed) agent.answer(job, outcome);
    },
    isSlow ? SECONDS : 5,
  );
}

beforeEach(async () => {
  database = await createTestDatabase();
  sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 30_000 });
  hub = createHub({ clock: systemClock, random: systemRandom, log, registry: new Registry() });
  atOnce = new Map();
});

afterEach(async () => {
  clearInterval(beats);
  await watch?.stop(0);
  hub?.stop();
  await sql?.end();
  await database?.drop();
});

/** Attaches an agent with this number of credits, and starts to check what is due. */
function start(credits: number): void {
  const hello = helloOf("eu-west", { credits, maxJobs: credits });
  let taken = 0;
  agent = attachAgent(hub, hello);
  beats = setInterval(() => {
    for (; taken < agent.jobs.length; taken += 1) {
      const job = agent.jobs[taken];
      if (job !== undefined) work(job);
    }
    agent.beat(
      credits,
      Array.from(atOnce.values()).reduce((sum, { now }) => sum + now, 0),
    );
  }, 20);
  watch = startWatch({
    timers: liveTimers,
    sql,
    checks: { hub, clock: systemClock, results: createResultCache(systemClock), pacer: createPacer(systemClock) },
    clock: systemClock,
    random: systemRandom,
    log,
    registry: new Registry(),
    recording: { events: createEvents({ random: systemRandom, sources: [] }), requestEvidence },
    baselines: { wants: () => false, add: () => {} },
    expiry: { note: () => {}, judgeDomain: () => Promise.resolve({ verdict: "unknown", fault: null }) },
    pictureFinding: (_slot, _monitor, { finding }) => Promise.resolve(finding),
    encryption: createEncryption(MASTER_KEY, systemRandom),
  });
}

/** Creates an account with monitors of one site that are due since `lateMs`. Returns their ids. */
async function createDue(url: string, monitors: number, lateMs: number): Promise<readonly number[]> {
  const [account] = await sql<{ id: number }[]>`
    insert into accounts (email, plan, created_at, updated_at)
    values (${`owner@${new URL(url).host}`}, 'business', now(), now()) returning id`;
  const accountId = account?.id ?? 0;
  const settings = { ...DEFAULT_SETTINGS, locations: ["eu-west"], timeout_seconds: 1, retries: 0 };
  const plannedAt = ago(lateMs);
  return transact(sql, async (tx) => {
    const ids = await reserveIds(tx, monitors);
    const common = { accountId, url, checkType: "http", intervalMinutes: 1, isActive: true } as const;
    const rest = { pausedReason: null, tags: [], dependsOn: null, settings, secrets: null };
    await insertMonitors(
      tx,
      ids.map((id) => ({ ...common, ...rest, id, name: `m${id}` })),
      new Date(),
    );
    await insertStates(tx, ids);
    const times = { intervalSeconds: 60, phaseMs: 0, timeoutSeconds: 1, plannedAt, location: "eu-west", accountId };
    await insertEntries(
      tx,
      ids.map((monitorId) => ({ ...times, monitorId })),
    );
    return ids;
  });
}

/** Counts the planned checks of monitors, by verdict. */
async function countChecks(ids: readonly number[]): Promise<{ readonly judged: number; readonly unknown: number }> {
  const [row] = await sql<{ judged: number; unknown: number }[]>`
    select count(distinct monitor_id) filter (where status <> 3) as judged, count(*) filter (where status = 3) as unknown
    from checks where monitor_id = any(${[...ids]}::bigint[])`;
  return row ?? { judged: 0, unknown: 0 };
}

describe("monitors of one site that hangs", () => {
  it("are checked 20 at once, and delay no monitor of another account", async () => {
    const slow = await createDue("https://slow.example.com/", 600, 0);
    start(500);
    await expect.poll(async () => (await countChecks(slow)).judged).toBeGreaterThan(20);
    const quick = await createDue("https://quick.example.org/", 100, 0);
    watch.wake();
    await expect.poll(async () => (await countChecks(quick)).judged).toBe(100);
    // The others take half a minute, 20 a second.
    expect((await countChecks(slow)).judged).toBeLessThan(600);
    expect(atOnce.get("slow.example.com")?.most).toBe(20);
    // Those that wait hold no lease, keep their planned times, and are checked one after the other.
    const before = await countChecks(slow);
    await expect.poll(async () => (await countChecks(slow)).judged).toBeGreaterThan(before.judged + 60);
    expect((await countChecks(slow)).unknown).toBe(0);
    const [waiting] = await sql<{ leased: number }[]>`
      select count(*) filter (where lease <> 0) as leased from monitor_slots where monitor_id = any(${[...slow]}::bigint[])`;
    expect(waiting?.leased).toBeLessThan(100);
  });
});

describe("more checks than the agents of a location can run before a job's deadline", () => {
  it("are checked later, and are not recorded as unknown", async () => {
    // Two at once, each a second long: the last one begins after 15 s, and a job waits 4 s at most.
    const ids: number[] = [];
    for (let n = 0; n < 30; n += 1) ids.push(...(await createDue(`https://slow-${n}.example.com/`, 1, 0)));
    start(2);
    await expect.poll(async () => (await countChecks(ids)).judged).toBe(30);
    expect((await countChecks(ids)).unknown).toBe(0);
    const lags = await sql<{ ms: number }[]>`
      select lag_ms as ms from checks where monitor_id = any(${ids}::bigint[]) order by lag_ms`;
    // The lag counts until the agent gets the check, not until this replica begins to look for one.
    expect(lags.at(-1)?.ms).toBeGreaterThan(9 * SECONDS);
  });
});

describe("a backlog after an outage of the service", () => {
  it("is checked before the next checks are due, spread over a quarter of a second", async () => {
    const ids = await createDue("https://quick.example.org/", 15, 10 * SECONDS);
    start(100);
    await expect.poll(async () => (await countChecks(ids)).judged).toBe(15);
    const [first] = await sql<{ spreadMs: number; lagMs: number }[]>`
      select (extract(epoch from max(checked_at) - min(checked_at)) * 1000)::float8 as "spreadMs", min(lag_ms) as "lagMs"
      from (
        select distinct on (monitor_id) checked_at, lag_ms from checks
        where monitor_id = any(${[...ids]}::bigint[]) and not is_recheck order by monitor_id, checked_at
      ) as firsts`;
    expect(first?.spreadMs).toBeGreaterThan(75);
    // Each for the time that was missed, not for the next one.
    expect(first?.lagMs).toBeGreaterThanOrEqual(10 * SECONDS);
  });
});
