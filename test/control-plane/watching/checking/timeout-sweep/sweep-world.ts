import { pino } from "pino";
import { Registry } from "prom-client";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { claimEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { startTimeoutSweep } from "#control-plane/watching/checking/timeout-sweep/sweep.ts";
import { createWatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import type { Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { createRecordWithEvents } from "#control-plane/watching/checking/watch/record-events.ts";
import { createRecorder } from "#control-plane/watching/checking/watch/recorder.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import { readTags } from "#control-plane/monitors/store.ts";
import { createWebhookSource } from "#control-plane/notify/webhooks/source.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";
import { createWatchedAccount, type WatchedAccount } from "#test/support/watched-account.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";
import { openUnsentMail } from "#test/support/unsent-mail.ts";
import { liveTimers } from "#test/support/timers.ts";

/**
 * Monitors whose checks and timeout sweeps a test runs one by one, on a separate database, with the time that it sets.
 */
export interface SweepWorld {
  readonly service: MonitorService;
  readonly sql: Sql;
  readonly clock: ReturnType<typeof createManualClock>;
  /** Creates an account with monitors, checked once a minute from these locations. Its mail address is confirmed. */
  account(monitors: number, settings?: Partial<MonitorSettings>): Promise<WatchedAccount>;
  /** Checks of these monitors end now, at all their locations or one. */
  check(ids: readonly number[], finding: Finding, location?: string): Promise<void>;
  /** Sweeps all that are overdue, by so many replicas at the same time. */
  sweep(replicas?: number): Promise<void>;
  /** The locations that no probe serves. */
  readonly absent: Set<string>;
  status(id: number): Promise<string>;
  /** The statuses of a monitor in its history, oldest first. */
  statuses(id: number): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Statuses by their number in the history. */
const WORDS = ["", "up", "down", "unknown"];

/** Opens a world. Call `stop` in afterAll. */
export async function openSweepWorld(): Promise<SweepWorld> {
  const service = await startMonitorService();
  const sql = connect(service.databaseUrl, { name: "test", connections: 6, statementTimeoutMs: 30_000 });
  const clock = createManualClock(new Date());
  const log = pino({ level: "silent" });
  const mail = openUnsentMail(sql, clock);
  const events = createEvents({ random: systemRandom, sources: [mail.source, createWebhookSource(readTags)] });
  const recording = { events, requestEvidence };
  const absent = new Set<string>();
  const withoutAgent = (_account: number, locations: readonly string[]) => locations.filter((one) => absent.has(one));
  let lease = 0;

  return {
    service,
    sql,
    clock,
    absent,
    async account(monitors, settings = {}) {
      const made = await createWatchedAccount(service, sql, monitors, settings);
      const { locations } = settings;
      if (locations !== undefined) {
        await sql`delete from monitor_slots where monitor_id = any(${[...made.ids]}::bigint[])
          and location <> all(${[...locations]}::text[])`;
      }
      await confirmRecipients(sql, made.accountId, ["ops@example.com"]);
      return made;
    },
    async check(ids, finding, location) {
      lease += 1;
      const now = clock.now();
      await sql`
        update monitor_slots set due_at = case
            when monitor_id = any(${[...ids]}::bigint[]) and location = coalesce(${location ?? null}::text, location)
            then ${now}::timestamptz else 'infinity' end
        where lease = 0`;
      const none = { absent: [], withoutAgent: [], privateAccounts: [], fullAccounts: [] };
      const entries = await claimEntries(sql, { now, most: 1_000, lease, graceMs: 60_000, ...none });
      const metrics = createWatchMetrics(new Registry(), { running: () => 0, unrecorded: () => 0 });
      const recordWithEvents = createRecordWithEvents({ sql, metrics, ...recording });
      const recorder = createRecorder({ sql, clock, metrics, log, recordWithEvents });
      const monitors = createWatchedMonitors();
      for (const entry of entries) {
        const { state, stateVersion } = entry;
        const monitor = monitors.of(entry);
        const beganAt = now.getTime();
        const common = { lagMs: 0, isRecheck: false, withoutAgent: withoutAgent(0, entry.plannedLocations) };
        recorder.add({ entry, monitor, finding, beganAt, state, stateVersion, ...common });
      }
      await recorder.settle();
    },
    async sweep(replicas = 1) {
      const all = Array.from({ length: replicas }, () =>
        startTimeoutSweep({ timers: liveTimers, sql, clock, log, withoutAgent, recording }),
      );
      await Promise.all(all.map((sweeps) => sweeps.sweep()));
      await Promise.all(all.map((sweeps) => sweeps.stop()));
    },
    async status(id) {
      const [row] = await sql<{ status: string }[]>`select status from monitor_states where monitor_id = ${id}`;
      return row?.status ?? "";
    },
    async statuses(id) {
      const rows = await sql<{ status: number }[]>`
        select status from monitor_status_changes where monitor_id = ${id} order by id`;
      return rows.map(({ status }) => WORDS[status] ?? "");
    },
    async stop() {
      mail.close();
      await sql.end();
      await service.stop();
    },
  };
}
