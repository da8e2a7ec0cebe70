import { randomInt } from "node:crypto";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccounts } from "#control-plane/accounts/accounts.ts";
import { connect, type Sql } from "#control-plane/database/connect.ts";
import { createEvents } from "#control-plane/events/events.ts";
import { readGoodChecks } from "#control-plane/evidence/baselines/store.ts";
import { readMailLines, requestEvidence } from "#control-plane/evidence/requests.ts";
import { readHeartbeatMailFacts } from "#control-plane/heartbeats/mail-facts.ts";
import { openMail, type Mail } from "#control-plane/mail/mail.ts";
import { areCovered } from "#control-plane/maintenance/coverage/coverage.ts";
import type { MonitorSettings } from "#control-plane/monitors/monitor.ts";
import { claimSlots, type ClaimedSlot } from "#control-plane/monitors/schedule/store.ts";
import { decodeGoodCheck } from "#control-plane/monitors/snapshots/good-check.ts";
import { transact } from "#control-plane/database/transaction.ts";
import { lockMonitors } from "#control-plane/monitors/store.ts";
import { readStates } from "#control-plane/monitors/state/store.ts";
import { createWatchMetrics } from "#control-plane/monitors/watch/metrics.ts";
import type { Finding } from "#control-plane/monitors/watch/observe.ts";
import { createRecordWithEvents } from "#control-plane/monitors/watch/record-events.ts";
import { createRecorder } from "#control-plane/monitors/watch/recorder.ts";
import { createWatchedMonitors } from "#control-plane/monitors/watch/watched.ts";
import { createEncryption } from "#control-plane/secrets/encryption.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { untilEndedOrLocked } from "#test/support/database-locks.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";

const SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;
const EMAILS = ["one@example.com", "two@example.com"];
const LOCATIONS = ["eu-west", "us-east", "ap-south"];

let plane: TestControlPlane;
let sql: Sql;
let mail: Mail;

beforeAll(async () => {
  plane = await startControlPlane();
  sql = connect(plane.databaseUrl, { name: "test", connections: 3, statementTimeoutMs: 30_000 });
  mail = openMail({
    config: { server: SERVER, from: "a@example.com" },
    baseUrl: "http://127.0.0.1:8080",
    sql,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: "silent" }),
    encryption: createEncryption(MASTER_KEY, systemRandom),
    accountEmails: (on, ids) => createAccounts(sql, systemClock).emails(on, ids),
    evidenceLines: readMailLines,
    heartbeatFacts: readHeartbeatMailFacts,
  });
});

afterAll(async () => {
  mail?.close();
  await sql?.end();
  await plane?.stop();
});

const DOWN: Finding = {
  verdict: "down",
  responseMs: null,
  httpStatus: null,
  fault: { stage: "connect", source: "target", reason: "refused", message: "refused" },
  phases: null,
  fingerprint: null,
  whole: null,
};
const UP: Finding = { ...DOWN, verdict: "up", responseMs: 20, httpStatus: 200, fault: null };

/** A monitor whose checks a test claims, ends and records one by one. */
async function watchOne(settings: Partial<MonitorSettings>) {
  const { accountId, key, ids } = await createWatchedAccount(plane, sql, 1, settings);
  const [id = 0] = ids;
  await sql`
    insert into mail_recipients (account_id, email, created_at, confirmed_at, wants_confirmation)
    select ${accountId}, email, now(), now(), false from unnest(${EMAILS}::text[]) as email`;
  const metrics = createWatchMetrics(new Registry(), { running: () => 0, unrecorded: () => 0 });
  const events = createEvents({ random: systemRandom, sources: [mail.source] });
  const recordWithEvents = createRecordWithEvents({ sql, events, areCovered, requestEvidence, metrics });
  const log = pino({ level: "silent" });
  const recorder = createRecorder({ sql, clock: systemClock, metrics, log, recordWithEvents });
  const monitors = createWatchedMonitors();
  return {
    id,
    /** Begins the checks of all locations. */
    async begin(): Promise<readonly ClaimedSlot[]> {
      // Due in a moment, so that the control plane, which has no agents, does not claim and release them first.
      const now = new Date(Date.now() + 10_000);
      await sql`update monitor_slots set due_at = ${now}, lease = 0 where monitor_id = ${id}`;
      const options = { absent: [], unserved: [], privateAccounts: [], fullAccounts: [], graceMs: 10_000 };
      const slots = await claimSlots(sql, { now, most: 100, lease: randomInt(1, 2 ** 47), ...options });
      return slots.filter(({ monitorId }) => monitorId === id);
    },
    async end(slots: readonly ClaimedSlot[], finding: Finding): Promise<void> {
      for (const slot of slots) {
        const { state, stateVersion } = slot;
        const common = { lagMs: 0, isRecheck: false, unserved: [], beganAt: Date.now(), state, stateVersion };
        recorder.add({ slot, monitor: monitors.of(slot), finding, ...common });
      }
      await recorder.settle();
    },
    async change(body: object): Promise<void> {
      const { status, text } = await plane.call(`/api/v4/monitors?id=${id}`, { method: "PUT", key, body });
      expect(status, text).toBe(200);
    },
    async mailed(): Promise<readonly string[]> {
      const rows = await sql<{ type: string; recipient: string }[]>`
        select e.type, d.recipient from deliveries as d join events as e on e.id = d.event_id
        where e.monitor_id = ${id} order by d.id`;
      return rows.map(({ type, recipient }) => `${type} ${recipient}`);
    },
    state: async () => (await readStates(sql, [id])).get(id)?.state,
    async checks(): Promise<number> {
      const [{ count }] = await sql<[{ count: number }]>`select count(*) from checks where monitor_id = ${id}`;
      return count;
    },
    /** Returns the planned times of the next checks, the last one first. */
    async nextPlanned(): Promise<readonly Date[]> {
      const rows = await sql<{ at: Date }[]>`
        select planned_at as at from monitor_slots where monitor_id = ${id} order by at desc`;
      return rows.map(({ at }) => at);
    },
    async transitions(): Promise<readonly unknown[]> {
      const { values } = await metrics.transitions.get();
      return values.filter(({ value }) => value > 0).map(({ labels }) => labels.kind);
    },
  };
}

describe("a change of a monitor during the check that finds its outage", () => {
  // For each: what changes, the settings before, the change, and who is mailed.
  it.each([
    ["mail is turned on", { notify_emails: EMAILS.slice(0, 1) }, { notify_email: true }, EMAILS.slice(0, 1)],
    [
      "an address is added",
      { notify_email: true, notify_emails: EMAILS.slice(0, 1) },
      { notify_emails: EMAILS },
      EMAILS,
    ],
    [
      "an address is removed",
      { notify_email: true, notify_emails: EMAILS },
      { notify_emails: EMAILS.slice(1) },
      EMAILS.slice(1),
    ],
    ["mail is turned off", { notify_email: true, notify_emails: EMAILS }, { notify_email: false }, []],
  ])("counts for the notice: %s", async (_what, before, change, mailed) => {
    const monitor = await watchOne(before);
    await monitor.end(await monitor.begin(), UP);
    const slots = await monitor.begin();
    expect(slots).toHaveLength(LOCATIONS.length);
    await monitor.change(change);
    await monitor.end(slots, DOWN);
    expect((await monitor.state())?.status).toBe("down");
    expect(await monitor.mailed()).toEqual(mailed.map((email) => `monitor.down ${email}`));
  });

  it("counts for the notice that waited until the change was committed", async () => {
    const monitor = await watchOne({ notify_email: true, notify_emails: EMAILS.slice(0, 1) });
    await monitor.end(await monitor.begin(), UP);
    // One location already fails, so that the next one makes the monitor down.
    const [first, ...others] = await monitor.begin();
    if (first === undefined) throw new Error("no slot");
    await monitor.end([first], DOWN);
    // A second session has made the change and holds the monitor, as a request does that commits in a moment.
    const other = connect(plane.databaseUrl, { name: "change", connections: 1, statementTimeoutMs: 30_000 });
    const ending = await transact(other, async (tx) => {
      await lockMonitors(tx, [monitor.id]);
      const settings = tx`(settings::jsonb || ${JSON.stringify({ notify_emails: EMAILS.slice(1) })}::text::jsonb)::text`;
      await tx`update monitors set settings = ${settings} where id = ${monitor.id}`;
      const ended = monitor.end(others, DOWN);
      await untilEndedOrLocked(sql, ended);
      return { ended };
    });
    await ending.ended;
    await other.end();
    expect((await monitor.state())?.status).toBe("down");
    expect(await monitor.mailed()).toEqual(EMAILS.slice(1).map((email) => `monitor.down ${email}`));
  });

  it("counts for the decision: a larger quorum is not met, and reminders begin", async () => {
    const monitor = await watchOne({ quorum: 1 });
    await monitor.end(await monitor.begin(), UP);
    const [first, ...others] = await monitor.begin();
    if (first === undefined) throw new Error("no slot");
    await monitor.change({ quorum: 2, repeat_minutes: 10 });
    await monitor.end([first], DOWN);
    expect(await monitor.state()).toMatchObject({ status: "up", remindAt: null });
    expect(await monitor.transitions()).toEqual(["up"]);
    await monitor.end(others, DOWN);
    const state = await monitor.state();
    expect(state?.status).toBe("down");
    expect(state?.remindAt).toBeGreaterThan(Date.now() + 500_000);
  });
});

describe("a shorter interval that is set during a check", () => {
  it("counts from the next check on: the running one is repeated, and is not recorded twice", async () => {
    const monitor = await watchOne({});
    await monitor.change({ interval_minutes: 1440 });
    const slots = await monitor.begin();
    await monitor.change({ interval_minutes: 1 });
    await monitor.end(slots, UP);
    expect(await monitor.checks()).toBe(0);
    await monitor.end(await monitor.begin(), UP);
    expect(await monitor.checks()).toBe(slots.length);
    const [next] = await monitor.nextPlanned();
    expect(next?.getTime()).toBeLessThan(Date.now() + 2 * 60_000);
  });
});

describe("the newest good check of a slot", () => {
  const PHASES = { redirect_ms: 0, dns_ms: 1, connect_ms: 2, tls_ms: 3, processing_ms: 4 };

  it("is kept with every good check, through those that fail, until the monitor has a new target", async () => {
    const monitor = await watchOne({});
    const good = async () => {
      const rows = await readGoodChecks(sql, monitor.id);
      return rows.map(({ goodAt, good: text }) => ({ at: goodAt.getTime(), ...decodeGoodCheck(text) }));
    };
    expect(await good()).toEqual([]);
    // The first changes the status, in a transaction; the second changes nothing, and is recorded with others.
    for (const httpStatus of [200, 204]) {
      await monitor.end(await monitor.begin(), { ...UP, httpStatus, phases: PHASES, fingerprint: "ab".repeat(32) });
      const rows = await good();
      expect(rows).toHaveLength(LOCATIONS.length);
      for (const row of rows) expect(row).toMatchObject({ httpStatus, responseMs: 20, fingerprint: "ab".repeat(32) });
    }
    const before = await good();
    await monitor.end(await monitor.begin(), DOWN);
    await monitor.end(await monitor.begin(), { ...DOWN, verdict: "unknown" });
    expect((await monitor.state())?.status).toBe("down");
    expect(await good()).toEqual(before);
    await monitor.change({ url: "https://other.example.com/" });
    expect(await good()).toEqual([]);
  });
});
