import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Clock } from "#shared/time/clock.ts";
import { ok } from "#shared/contracts/outcome.ts";
import { startWatch, type Watch } from "#control-plane/watching/checking/watch/watch.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { createPacer } from "#control-plane/checks/target-pacer.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { liveTimers } from "#test/support/timers.ts";

const log = pino({ level: "silent" });
const UP = { verdict: "up", response_ms: 5, http_status: 200, fault: null, whole: null, elapsed_ms: 5 };

let service: MonitorService;
let sql: Sql;
let hub: Hub;
let watch: Watch;
let beats: NodeJS.Timeout;
let jobs = 0;

beforeEach(async () => {
  service = await startMonitorService();
  sql = connect(service.databaseUrl, { name: "test", connections: 4, statementTimeoutMs: 30_000 });
  hub = createHub({ clock: systemClock, random: systemRandom, log, registry: new Registry() });
  const agent = attachAgent(hub, helloOf("eu-west", { credits: 10, maxJobs: 10 }), {}, () => {
    jobs += 1;
    return ok(UP);
  });
  beats = setInterval(() => agent.beat(10), 500);
});
afterEach(async () => {
  clearInterval(beats);
  await watch?.stop(0);
  hub?.stop();
  await sql?.end();
  await service?.stop();
});

interface Entry {
  readonly lease: number;
  /** Seconds from the time of the watch. */
  readonly dueIn: number;
}

it("a check whose picture cannot be stored gives its entry back at once, and is repeated some seconds later", async () => {
  const { ids } = await createWatchedAccount(service, sql, 1);
  await sql`delete from monitor_slots where location <> 'eu-west'`;
  const [monitorId = 0] = ids;
  // It stands still between the checks, so that none is repeated before the test has seen what the last one left.
  let now = new Date();
  const clock: Clock = { ...systemClock, now: () => now };
  watch = startWatch({
    timers: liveTimers,
    sql,
    checks: { hub, clock: systemClock, results: createResultCache(systemClock), pacer: createPacer(systemClock) },
    clock,
    random: systemRandom,
    log,
    registry: new Registry(),
    recording: { events: createEvents({ random: systemRandom, sources: [] }), requestEvidence },
    baselines: { wants: () => false, add: () => {} },
    expiry: { note: () => {}, judgeDomain: () => Promise.resolve({ verdict: "unknown", fault: null }) },
    pictureFinding: () => Promise.resolve(null),
    encryption: createEncryption(MASTER_KEY, systemRandom),
  });
  const readEntry = async (): Promise<Entry> => {
    const [entry] = await sql<Entry[]>`
      select lease, extract(epoch from due_at - ${now}::timestamptz)::float8 as "dueIn" from monitor_slots
      where monitor_id = ${monitorId}`;
    return entry ?? expect.fail("the monitor has no schedule entry");
  };
  for (let check = 1; check <= 3; check += 1) {
    await expect
      .poll(async () => ({ jobs, ...(await readEntry()) }))
      .toMatchObject({
        jobs: check,
        lease: 0,
        dueIn: expect.toSatisfy((seconds: number) => seconds > 5 && seconds <= 10) as number,
      });
    if (check < 3) now = new Date(now.getTime() + 10_000);
  }
  // Nothing of them was kept: a schedule entry that is given back when the replica stops would be due at its planned
  // time.
  await watch.stop(0);
  expect((await readEntry()).dueIn).toBeGreaterThan(0);
  const [{ checks }] = await sql<[{ checks: number }]>`select count(*) as checks from checks`;
  expect(checks).toBe(0);
});
