import { randomInt } from "node:crypto";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import type { Mail } from "#control-plane/notify/mail/mail.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { claimEntries, type ClaimedEntry } from "#control-plane/watching/checking/schedule/store.ts";
import { readStates } from "#test/support/monitor-states.ts";
import { createWatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import type { Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { latenessMs } from "#control-plane/watching/checking/watch/plan-record.ts";
import { createRecordWithEvents } from "#control-plane/watching/checking/watch/record-events.ts";
import { createRecorder } from "#control-plane/watching/checking/watch/recorder.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import { createWebhookSource } from "#control-plane/notify/webhooks/source.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";
import { openUnsentMail } from "#test/support/unsent-mail.ts";
import { listDeliveries } from "#test/support/webhooks.ts";

/** Confirmed addresses of every account. */
export const EMAILS = ["one@example.com", "two@example.com"];
/** The locations of every monitor. */
export const LOCATIONS = ["eu-west", "us-east", "ap-south"];

/** A check that found its port closed. */
export const DOWN: Finding = {
  verdict: "down",
  responseMs: null,
  httpStatus: null,
  fault: { stage: "connect", source: "target", reason: "refused", message: "refused" },
  phases: null,
  fingerprint: null,
  whole: null,
};
/** A good check. */
export const UP: Finding = { ...DOWN, verdict: "up", responseMs: 20, httpStatus: 200, fault: null };

/** An incident as the API shows it, as far as tests read it. */
interface ShownIncident {
  readonly id: number;
  readonly status: string;
  readonly recovered_at: string | null;
  readonly cause: { readonly code: string; readonly message: string };
  readonly cause_now: { readonly code: string; readonly message: string };
  readonly locations: readonly {
    readonly location: string;
    readonly status: string;
    readonly error: { readonly reason: string } | null;
  }[];
  readonly timeline: readonly { readonly at: string; readonly kind: string; readonly text: string }[];
}

interface Parts {
  readonly plane: TestControlPlane;
  readonly sql: Sql;
  readonly mail: Mail;
}

/** A control plane, with a recorder of the checks that a test ends. Call `close` in afterAll. */
export async function openRecording() {
  const plane = await startControlPlane();
  const sql = connect(plane.databaseUrl, { name: "test", connections: 3, statementTimeoutMs: 30_000 });
  const mail = openUnsentMail(sql, systemClock);
  return {
    plane,
    sql,
    watch: (settings: Partial<MonitorSettings>) => watchOne({ plane, sql, mail }, settings),
    async close() {
      mail.close();
      await sql.end();
      await plane.stop();
    },
  };
}

/** Creates a monitor whose checks a test claims, ends and records one by one. */
async function watchOne({ plane, sql, mail }: Parts, settings: Partial<MonitorSettings>) {
  const { accountId, key, ids } = await createWatchedAccount(plane, sql, 1, settings);
  const [id = 0] = ids;
  await confirmRecipients(sql, accountId, EMAILS);
  const metrics = createWatchMetrics(new Registry(), { running: () => 0, unrecorded: () => 0 });
  const events = createEvents({
    random: systemRandom,
    sources: [mail.source, createWebhookSource(() => Promise.resolve(new Map()))],
  });
  const recordWithEvents = createRecordWithEvents({ sql, events, requestEvidence, metrics });
  const log = pino({ level: "silent" });
  const recorder = createRecorder({ sql, clock: systemClock, metrics, log, recordWithEvents });
  const monitors = createWatchedMonitors();
  return {
    id,
    /** Begins the checks of all locations. */
    async begin(): Promise<readonly ClaimedEntry[]> {
      // Due in a moment, so that the control plane, which has no agents, does not claim and release them first.
      const now = new Date(Date.now() + 10_000);
      await sql`update monitor_slots set due_at = ${now}, lease = 0 where monitor_id = ${id}`;
      const options = { absent: [], withoutAgent: [], privateAccounts: [], fullAccounts: [], graceMs: 10_000 };
      const entries = await claimEntries(sql, { now, most: 100, lease: randomInt(1, 2 ** 47), ...options });
      return entries.filter(({ monitorId }) => monitorId === id);
    },
    /** Ends checks that have just begun. `aheadMs`: the clock was set back by this since. */
    async end(entries: readonly ClaimedEntry[], finding: Finding, isRecheck = false, aheadMs = 0): Promise<void> {
      for (const entry of entries) {
        const { state, stateVersion } = entry;
        const beganAt = Date.now() + aheadMs;
        const common = { lagMs: latenessMs(entry, beganAt), isRecheck, withoutAgent: [], beganAt, state, stateVersion };
        recorder.add({ entry, monitor: monitors.of(entry), finding, ...common });
      }
      await recorder.settle();
    },
    async change(body: object): Promise<void> {
      const { status, text } = await plane.call(`/api/v4/monitors?id=${id}`, { method: "PUT", key, body });
      expect(status, text).toBe(200);
    },
    /** Reads the incidents of the monitor with their timelines, newest first. */
    async incidents(): Promise<readonly ShownIncident[]> {
      const { body } = await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key });
      const listed = body.data as readonly ShownIncident[];
      return Promise.all(
        listed.map(
          async (one) => (await plane.call(`/api/v4/incidents?id=${one.id}`, { key })).body.data as ShownIncident,
        ),
      );
    },
    /** Reads the monitor as the API shows it. */
    async shown(): Promise<Readonly<Record<string, unknown>>> {
      return (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
    },
    /** Returns the data of the events of a type, oldest first. */
    async events(type: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
      const rows = await sql<{ body: string }[]>`
        select body from events where monitor_id = ${id} and type = ${type} order by created_at, id`;
      return rows.map(({ body }) => (JSON.parse(body) as { data: Readonly<Record<string, unknown>> }).data);
    },
    /** Creates a webhook of the account. Returns its id. */
    async subscribe(types: readonly string[] | null): Promise<number> {
      const body = { url: "https://hooks.example.com/x", events: types };
      const made = await plane.call("/api/v4/webhooks", { method: "POST", key, body });
      expect(made.status, made.text).toBe(201);
      return (made.body.data as { readonly id: number }).id;
    },
    /** Reads a webhook. */
    async webhook(webhookId: number): Promise<{ readonly events: readonly string[] }> {
      const { body } = await plane.call("/api/v4/webhooks", { key });
      const found = (body.data as readonly { id: number; events: readonly string[] }[]).find(
        (one) => one.id === webhookId,
      );
      if (found === undefined) throw new Error("no webhook");
      return found;
    },
    async changeWebhook(webhookId: number, body: object): Promise<void> {
      const { status, text } = await plane.call(`/api/v4/webhooks?id=${webhookId}`, { method: "PUT", key, body });
      expect(status, text).toBe(200);
    },
    /** Returns the ids of the webhooks to which events of a type are sent. */
    async posted(type: string): Promise<readonly number[]> {
      const deliveries = await listDeliveries(plane, key, `?event_type=${type}&per_page=100`);
      return deliveries.map(({ webhook_id: webhookId }) => webhookId).toReversed();
    },
    async mailed(): Promise<readonly string[]> {
      const rows = await sql<{ type: string; recipient: string }[]>`
        select e.type, d.recipient from deliveries as d join events as e on e.id = d.event_id
        where e.monitor_id = ${id} and d.channel = 'mail' order by d.id`;
      return rows.map(({ type, recipient }) => `${type} ${recipient}`);
    },
    state: async () => (await readStates(sql, [id])).get(id)?.state,
    async checks(): Promise<number> {
      const [{ count }] = await sql<[{ count: number }]>`select count(*) from checks where monitor_id = ${id}`;
      return count;
    },
    /** Returns when the checks that failed began, and for when they were planned. */
    async failed(): Promise<readonly { readonly at: Date; readonly plannedAt: Date }[]> {
      return sql<{ at: Date; plannedAt: Date }[]>`
        select checked_at as at, checked_at - lag_ms * interval '1 ms' as "plannedAt" from checks
        where monitor_id = ${id} and status = 2 order by at`;
    },
    /** Returns the planned times of the next checks, the last one first. */
    async nextPlanned(): Promise<readonly Date[]> {
      const rows = await sql<{ at: Date }[]>`
        select planned_at as at from monitor_slots where monitor_id = ${id} order by at desc`;
      return rows.map(({ at }) => at);
    },
    /** Number of planned checks that failed and passed on the re-check. */
    softState: async () => (await metrics.softState.get()).values[0]?.value ?? 0,
    async transitions(): Promise<readonly unknown[]> {
      const { values } = await metrics.transitions.get();
      return values.filter(({ value }) => value > 0).map(({ labels }) => labels.kind);
    },
  };
}
