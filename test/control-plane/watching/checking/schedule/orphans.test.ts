import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { startOrphans } from "#control-plane/watching/checking/schedule/orphans.ts";
import { claimEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { surveyMonitors } from "#control-plane/watching/checking/survey.ts";
import { createShiftedClock } from "#test/support/shifted-clock.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const LONG_MS = 60_000;
const NONE = { absent: [], withoutAgent: [], privateAccounts: [], fullAccounts: [] };

let lease = 0;

const service = await stopAfterAll(startMonitorService());
const sql = await stopAfterAll(
  connect(service.databaseUrl, { name: "test", connections: 3, statementTimeoutMs: 30_000 }),
);
afterEach(async () => {
  await sql`delete from monitors`;
  await sql`delete from replicas`;
});

async function live(id: string): Promise<void> {
  await sql`insert into replicas (id, address, started_at, seen_at) values (${id}, '', now(), now())`;
}

/** A replica claims all checks that are due. Returns their number. */
async function claim(claimedBy: string): Promise<number> {
  lease += 1;
  const entries = await claimEntries(sql, { now: new Date(), most: 100, lease, claimedBy, graceMs: LONG_MS, ...NONE });
  return entries.length;
}

/** Looks of one replica, a second apart by its clock. */
function looks(replicaId = "self", lines: string[] = []) {
  const clock = createShiftedClock();
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  return {
    look: async (times: number, apartMs = 1_000): Promise<void> => {
      const orphans = startOrphans({ timers: liveTimers, sql, clock, log, replicaId });
      orphans.stop();
      for (let made = 0; made < times; made += 1) {
        await orphans.release();
        clock.advance(apartMs);
      }
    },
  };
}

describe("the checks of a replica that was killed", () => {
  it("can be claimed again when it has been gone for five seconds, once, and not when their claims end", async () => {
    await createWatchedAccount(service, sql, 2);
    expect(await claim("killed")).toBe(6);
    const lines: string[] = [];
    await looks("self", lines).look(5);
    expect(await claim("self")).toBe(0);
    await Promise.all([looks("self", lines).look(7), looks("other", lines).look(7)]);
    expect(await claim("self")).toBe(6);
    expect(await claim("other")).toBe(0);
    const released = lines.map((line) => (JSON.parse(line) as { checks: number }).checks);
    expect(released.reduce((sum, checks) => sum + checks, 0)).toBe(6);
  });

  it("stay claimed while it lives, or is only missing for a moment", async () => {
    await createWatchedAccount(service, sql, 1);
    await live("alive");
    expect(await claim("alive")).toBe(3);
    await looks().look(10);
    const { look } = looks();
    await sql`delete from replicas`;
    await look(4);
    await live("alive");
    await look(1);
    await sql`delete from replicas`;
    await look(4);
    expect(await claim("self")).toBe(0);
  });

  it("stay claimed if nobody has looked between two looks, because the database was away", async () => {
    await createWatchedAccount(service, sql, 1);
    await claim("killed");
    await looks().look(4, 30_000);
    expect(await claim("self")).toBe(0);
  });

  it("stay claimed by the replica that looks, and by a release that does not name itself", async () => {
    await createWatchedAccount(service, sql, 1);
    await claim("self");
    await looks().look(10);
    expect(await claim("self")).toBe(0);
    await sql`update monitor_slots set claimed_by = null`;
    await looks("other").look(10);
    expect(await claim("other")).toBe(0);
  });
});

describe("the survey of late checks", () => {
  const survey = async () => {
    const place = { country: "", city: "", asn: 0, tags: [], latitude: null, longitude: null };
    const agents = ["eu-west", "us-east", "ap-south"].map((region) => {
      return { place: { ...place, probe_id: region, region }, accountId: null, isOnline: true };
    });
    const options = { agents, isMailConfigured: true, mostIds: 100, overdueMs: 30_000 };
    return (await surveyMonitors(sql, { ...options, now: new Date() })).overdue;
  };

  it("counts those of a replica that is gone, and not those that run", async () => {
    await createWatchedAccount(service, sql, 2);
    await live("alive");
    await sql`update monitor_slots set due_at = now() - interval '1 minute'`;
    await claim("alive");
    expect((await survey()).monitorCount).toBe(0);
    await sql`update monitor_slots set claimed_by = 'killed'`;
    expect(await survey()).toMatchObject({ monitorCount: 2, orphaned: 2, outage: null });
    await sql`update monitor_slots set lease = 0`;
    expect(await survey()).toMatchObject({ monitorCount: 2, orphaned: 0 });
    await sql`
      insert into service_outages (started_at, ended_at) values (now() - interval '1 hour', now() - interval '5 s')`;
    expect((await survey()).outage).toMatchObject({ startedAt: expect.any(Date) });
  });
});
