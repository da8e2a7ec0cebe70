import { randomInt } from "node:crypto";
import { pino } from "pino";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import type { Clock } from "#shared/time/clock.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { claimEntries, releaseEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { createWatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import type { Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { createRecordWithEvents } from "#control-plane/watching/checking/watch/record-events.ts";
import { createRecorder } from "#control-plane/watching/checking/watch/recorder.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { countDeadlocks } from "#test/support/database-locks.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { createWatchedAccount, type WatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MONITORS = 25;
const ACCOUNTS = 6;
const MINUTE_MS = 60_000;

const database = await stopAfterAll(createTestDatabase());
const plane = await startControlPlane({ databaseUrl: database.url });
const sql = connect(plane.databaseUrl, { name: "test", connections: 3, statementTimeoutMs: 60_000 });

/** A replica that claims checks, of which half fail, and records them, until it is stopped. */
function startReplica(clock: Clock): { readonly recorded: () => Promise<number>; readonly stop: () => Promise<void> } {
  const registry = new Registry();
  const client = connect(plane.databaseUrl, { name: "test replica", connections: 6, statementTimeoutMs: 60_000 });
  const metrics = createWatchMetrics(registry, { running: () => 0, unrecorded: () => 0 });
  const events = createEvents({ random: systemRandom, sources: [] });
  const recordWithEvents = createRecordWithEvents({ sql: client, events, requestEvidence, metrics });
  const recorder = createRecorder({ sql: client, clock, metrics, log: pino({ level: "silent" }), recordWithEvents });
  const monitors = createWatchedMonitors();
  const stopping = new AbortController();
  const round = async (): Promise<void> => {
    const options = { absent: [], withoutAgent: [], privateAccounts: [], fullAccounts: [], graceMs: 10_000 };
    const lease = randomInt(1, 2 ** 47);
    const entries = await claimEntries(client, { now: clock.now(), most: 150, lease, ...options });
    const returned = entries.filter(() => randomInt(5) === 0);
    for (const entry of entries.filter((one) => !returned.includes(one))) {
      const { state, stateVersion } = entry;
      const beganAt = clock.now().getTime();
      const common = { lagMs: 0, isRecheck: false, withoutAgent: [], state, stateVersion, beganAt };
      recorder.add({ entry, monitor: monitors.of(entry), finding: randomFinding(), ...common });
    }
    await releaseEntries(
      client,
      returned.map((entry) => ({ ...entry, dueAt: clock.now() })),
    );
  };
  const run = async (): Promise<void> => {
    // What fails is seen by the database's count of deadlocks, and tried again, as the product does.
    for (; !stopping.signal.aborted; await recorder.settle()) await round().catch(() => {});
  };
  const running = run();
  return {
    async recorded() {
      const { values } = await metrics.checks.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    async stop() {
      stopping.abort();
      await running;
      await client.end();
    },
  };
}

function randomFinding(): Finding {
  const fault = { stage: "connect", source: "target", reason: "refused", message: "refused" } as const;
  return randomInt(2) === 0
    ? { verdict: "up", responseMs: 20, httpStatus: 200, fault: null, phases: null, fingerprint: null, whole: null }
    : { verdict: "down", responseMs: null, httpStatus: null, fault, phases: null, fingerprint: null, whole: null };
}

/** Counts the rows of each table that names an account, or a monitor, of these; those that are swept later left out. */
async function countRows(accounts: readonly WatchedAccount[]): Promise<Readonly<Record<string, number>>> {
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and column_name in ('account_id', 'monitor_id')
      and table_name not like 'check%' and table_name not in ('deleted_monitors', 'late_hours', 'monitor_days')`;
  const accountIds = accounts.map(({ accountId }) => accountId);
  const monitorIds = accounts.flatMap(({ ids }) => ids);
  const counts: Record<string, number> = {};
  for (const { table, column } of columns) {
    const ids = column === "account_id" ? accountIds : monitorIds;
    const [row] = await sql<{ count: number }[]>`
      select count(*) as count from ${sql(table)} where ${sql(column)} = any(${ids}::bigint[])`;
    if (row !== undefined && row.count > 0) counts[`${table}.${column}`] = row.count;
  }
  return counts;
}

describe("writes of an account while its checks are recorded by two replicas", () => {
  it("never deadlock, and an erasure leaves no row", async () => {
    const accounts = await Promise.all(
      Array.from({ length: ACCOUNTS }, () => createWatchedAccount(plane, sql, MONITORS)),
    );
    // Each look at the clock is a second later, so that checks are always due.
    let steps = 0;
    const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + MINUTE_MS + (steps += 1) * 1_000) };
    const replicas = [startReplica(clock), startReplica(clock)];
    const statuses: number[] = [];
    try {
      for (const { accountId, key, ids } of accounts) {
        const write = async (method: string, path: string, body?: object): Promise<void> => {
          const headers = { "x-idempotency-key": `${method}-${randomInt(2 ** 40)}` };
          const { status } = await plane.call(path, { method, key, headers, ...(body === undefined ? {} : { body }) });
          statuses.push(status);
        };
        const incidents = (await plane.call("/api/v4/incidents", { key })).body.data as { id: number }[];
        const changes = ids
          .slice(0, 12)
          .flatMap((id, index) => [
            write("PUT", `/api/v4/monitors?id=${id}`, index % 2 === 0 ? { is_active: false } : { interval_minutes: 2 }),
            write("POST", `/api/v4/monitors?action=run&id=${ids[12 + index] ?? id}`),
            ...(index % 4 === 0 ? [write("DELETE", `/api/v4/monitors?id=${id}`)] : []),
          ]);
        const bulk = [ids, ids.toReversed()].map((all, index) =>
          write("PUT", "/api/v4/monitors?action=bulk", {
            ids: all,
            set: { is_active: index > 0, interval_minutes: 3 },
          }),
        );
        const notes = incidents.map(({ id }) => write("PUT", `/api/v4/incidents?id=${id}`, { note: "seen" }));
        const erasure = async (): Promise<void> => {
          const plan = await plane.operate("PUT", `/api/admin/accounts?id=${accountId}`, { plan: "free" });
          const erased = await plane.operate("DELETE", `/api/admin/accounts?id=${accountId}`);
          statuses.push(plan.status, erased.status);
          expect(erased.text).toContain('"deleted":true');
        };
        const ended = await Promise.allSettled([...bulk, ...changes, ...notes, erasure()]);
        expect(ended.filter(({ status }) => status === "rejected")).toEqual([]);
      }
    } finally {
      await Promise.all(replicas.map((replica) => replica.stop()));
    }
    const recorded = await Promise.all(replicas.map((replica) => replica.recorded()));
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(Math.min(...recorded)).toBeGreaterThan(100);
    expect(await countRows(accounts)).toEqual({});
    await sql.end();
    await plane.stop();
    expect(await countDeadlocks(database.url)).toBe(0);
  });
});
