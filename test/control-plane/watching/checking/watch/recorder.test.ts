import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import { createLog } from "#shared/process/log.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { MAX_INTEGER } from "#control-plane/core/database/integer.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { claimEntries, type ClaimedEntry } from "#control-plane/watching/checking/schedule/store.ts";
import { createWatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import { judgedFinding, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { createRecordWithEvents } from "#control-plane/watching/checking/watch/record-events.ts";
import { createRecorder } from "#control-plane/watching/checking/watch/recorder.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { createWatchedAccount, type WatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MONITORS = 4;
const DAY_MS = 86_400_000;
const REFUSED = judgedFinding("down", {
  stage: "connect",
  source: "target",
  reason: "refused",
  message: "the connection was refused",
});
const UP: Finding = { ...judgedFinding("up", null), responseMs: 20, httpStatus: 200 };

let lines: string[];
let next = 0;

const free = { ...BUILT_IN_PLANS.free, locations: 1 };
const service = await stopAfterAll(startMonitorService({ plans: { ...BUILT_IN_PLANS, free } }));
const sql = await stopAfterAll(
  connect(service.databaseUrl, { name: "test", connections: 4, statementTimeoutMs: 30_000 }),
);
beforeEach(() => {
  lines = [];
});

/** Two accounts, whose monitors have one location each. */
async function createTwo(): Promise<readonly WatchedAccount[]> {
  const accounts = [
    await createWatchedAccount(service, sql, MONITORS, { locations: ["eu-west"] }),
    await createWatchedAccount(service, sql, MONITORS, { locations: ["eu-west"] }),
  ];
  await sql`delete from monitor_slots where location <> 'eu-west'`;
  return accounts;
}

async function claimAll(): Promise<readonly ClaimedEntry[]> {
  next += 1;
  await sql`update monitor_slots set due_at = now() - interval '1 second' where lease = 0`;
  const options = { most: 100, graceMs: 60_000, absent: [], withoutAgent: [], privateAccounts: [], fullAccounts: [] };
  return claimEntries(sql, { ...options, now: new Date(), lease: next });
}

/** Records what was found in these schedule entries together, with the real recorder. */
async function record(
  entries: readonly ClaimedEntry[],
  findingOf: (entry: ClaimedEntry) => Finding,
  lagOf: (entry: ClaimedEntry) => number = () => 0,
): Promise<void> {
  const monitors = createWatchedMonitors();
  const metrics = createWatchMetrics(new Registry(), { running: () => 0, unrecorded: () => 0 });
  const log = createLog({ level: "error", destination: { write: (line: string) => void lines.push(line) } });
  const recording = { events: createEvents({ random: systemRandom, sources: [] }), requestEvidence };
  const recordWithEvents = createRecordWithEvents({ sql, metrics, ...recording });
  const recorder = createRecorder({ sql, clock: systemClock, metrics, log, recordWithEvents });
  const beganAt = Date.now();
  for (const entry of entries) {
    const { state, stateVersion } = entry;
    const found = {
      finding: findingOf(entry),
      beganAt,
      lagMs: lagOf(entry),
      isRecheck: false,
      withoutAgent: [],
      state,
      stateVersion,
    };
    recorder.add({ entry, monitor: monitors.of(entry), ...found });
  }
  await recorder.settle();
}

interface Seen {
  readonly id: number;
  readonly status: number;
  readonly fault: string | null;
}

/** The newest check of each monitor, in the order of their ids. */
const checksOf = (ids: readonly number[]) => sql<Seen[]>`
  select distinct on (monitor_id) monitor_id as id, status, fault from checks
  where monitor_id = any(${[...ids]}::bigint[]) order by monitor_id, id desc`;
const leasesOf = async (ids: readonly number[]) =>
  (await sql<{ lease: number }[]>`select lease from monitor_slots where monitor_id = any(${[...ids]}::bigint[])`).map(
    ({ lease }) => lease,
  );

describe("an observation that the database refuses", () => {
  it.each([
    ["a status", { httpStatus: 70_000 }],
    ["a time to the answer", { responseMs: 1e12 }],
  ])("because of %s counts as unknown, and those of other accounts are recorded", async (_what, wrong) => {
    const [hostile, other] = await createTwo();
    const [guilty = 0] = hostile?.ids ?? [];
    const all = [...(hostile?.ids ?? []), ...(other?.ids ?? [])];
    // The first results change the status, each in a transaction; the second ones are recorded in one statement.
    for (let round = 0; round < 2; round += 1) {
      lines = [];
      const entries = (await claimAll()).filter(({ monitorId }) => all.includes(monitorId));
      expect(entries).toHaveLength(2 * MONITORS);
      await record(entries, ({ monitorId }) => (monitorId === guilty ? { ...UP, ...wrong } : UP));
      const checks = await checksOf(all);
      expect(checks.map(({ id }) => id)).toEqual(all);
      for (const { id, status, fault } of checks) {
        expect([status, fault], String(id)).toEqual(
          id === guilty ? [3, expect.stringContaining('"source":"probe","reason":"invalid_result"')] : [1, null],
        );
      }
      expect(await leasesOf(all)).toEqual(all.map(() => 0));
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? "")).toMatchObject({ monitor: guilty, location: "eu-west" });
    }
    const [{ checks } = { checks: 0 }] = await sql<{ checks: number }[]>`
      select count(*)::int as checks from checks where monitor_id = any(${all}::bigint[])`;
    expect(checks).toBe(2 * all.length);
  });

  it("in any form is dropped, its entry is free again, and others are recorded", async () => {
    const [hostile, other] = await createTwo();
    const [guilty = 0, ...rest] = [...(hostile?.ids ?? []), ...(other?.ids ?? [])];
    // Nothing can be computed from such a state, not even for an unknown result.
    await sql`update monitor_states set state = 'no JSON' where monitor_id = ${guilty}`;
    const entries = (await claimAll()).filter(({ monitorId }) => [guilty, ...rest].includes(monitorId));
    await record(entries, () => UP);
    expect((await checksOf([guilty, ...rest])).map(({ id }) => id)).toEqual(rest);
    expect(await leasesOf([guilty, ...rest])).toEqual([guilty, ...rest].map(() => 0));
    const [row] = await sql<{ dueAt: Date }[]>`
      select due_at as "dueAt" from monitor_slots where monitor_id = ${guilty}`;
    expect(row?.dueAt.getTime()).toBeGreaterThan(Date.now());
    expect(lines).toHaveLength(2);
  });
});

describe("a monitor with more locations than its plan allows", () => {
  it("is judged by the location that it is checked from", async () => {
    const { accountId, ids } = await createWatchedAccount(service, sql, 1);
    const changed = await service.operate("PUT", `/api/admin/accounts?id=${accountId}`, { plan: "free" });
    expect(changed.status).toBe(200);
    const [id = 0] = ids;
    const seen: string[] = [];
    for (const verdict of ["up", "down", "down", "down"] as const) {
      const entries = (await claimAll()).filter(({ monitorId }) => monitorId === id);
      expect(entries.map(({ location }) => location)).toEqual(["eu-west"]);
      await record(entries, () => (verdict === "up" ? UP : REFUSED));
      const [row] = await sql<{ status: string }[]>`select status from monitor_states where monitor_id = ${id}`;
      seen.push(row?.status ?? "");
    }
    expect(seen).toEqual(["up", "up", "up", "down"]);
    const [incident] = await sql<{ message: string }[]>`
      select cause_message as message from incidents where monitor_id = ${id}`;
    expect(incident?.message).toBe("Connection refused from eu-west (port 443)");
  });
});

describe("a monitor that was down", () => {
  it("is up after as many good checks as its recovery says", async () => {
    const { ids } = await createWatchedAccount(service, sql, 1, { locations: ["eu-west"], retries: 0, recovery: 2 });
    const [id = 0] = ids;
    await sql`delete from monitor_slots where monitor_id = ${id} and location <> 'eu-west'`;
    const seen: string[] = [];
    for (const finding of [UP, REFUSED, UP, UP]) {
      const entries = (await claimAll()).filter(({ monitorId }) => monitorId === id);
      await record(entries, () => finding);
      const [row] = await sql<{ status: string }[]>`select status from monitor_states where monitor_id = ${id}`;
      seen.push(row?.status ?? "");
    }
    expect(seen).toEqual(["up", "down", "down", "up"]);
  });
});

describe("a check that was planned 30 days ago", () => {
  it("is recorded once the service runs again, and the next one is planned", async () => {
    const [account] = await createTwo();
    const ids = account?.ids ?? [];
    await sql`update monitor_slots set planned_at = now() - interval '30 days' where monitor_id = any(${[...ids]}::bigint[])`;
    const entries = (await claimAll()).filter(({ monitorId }) => ids.includes(monitorId));
    const lagOf = ({ plannedAt }: ClaimedEntry) => systemClock.now().getTime() - plannedAt.getTime();
    for (const entry of entries) expect(lagOf(entry)).toBeGreaterThan(29 * DAY_MS);
    await record(entries, () => UP, lagOf);
    expect((await checksOf(ids)).map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 1]));
    const rows = await sql<{ lag: number; isAhead: boolean }[]>`
      select lag_ms as lag, planned_at > now() as "isAhead" from monitor_slots
      where monitor_id = any(${[...ids]}::bigint[])`;
    expect(rows.map(({ lag, isAhead }) => [lag, isAhead])).toEqual(ids.map(() => [MAX_INTEGER, true]));
    expect(lines).toEqual([]);
  });
});
