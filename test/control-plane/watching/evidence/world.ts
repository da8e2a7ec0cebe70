import { Registry } from "prom-client";
import { pino } from "pino";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { connect, connectListener, type Sql } from "#control-plane/core/database/connect.ts";
import { createNotifications } from "#control-plane/core/database/notifications.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createHub } from "#control-plane/checks/dispatch/hub.ts";
import { openBaselines } from "#control-plane/watching/evidence/baselines/baselines.ts";
import { requestEvidence } from "#control-plane/watching/evidence/requests.ts";
import { startEvidenceWorker } from "#control-plane/watching/evidence/open.ts";
import type { Incident } from "#control-plane/outages/incidents/incident.ts";
import { openOutages } from "#control-plane/outages/incidents/outages/open.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import type { ProbedType } from "#control-plane/outages/kinds/kinds.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { endClient } from "#test/support/end-client.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { liveTimers } from "#test/support/timers.ts";

/** A replica that gathers, with one agent in its process. */
interface Replica {
  readonly baselines: ReturnType<typeof openBaselines>;
  /** Tools of the jobs that its agent has got. */
  readonly jobs: readonly string[];
  stop(): Promise<void>;
}

/** A database with monitors that go down, and replicas. */
interface EvidenceWorld {
  readonly databaseUrl: string;
  readonly sql: Sql;
  createAccount(): Promise<number>;
  /** Opens incidents of new monitors with these targets, each in its own transaction, as the checks do. */
  open(accountId: number, urls: readonly string[], options?: OpenOptions): Promise<readonly Incident[]>;
  /** Starts a replica with an agent in each of these regions; eu-west if they are absent. */
  startReplica(
    answer?: (job: Job) => Outcome<unknown> | Promise<Outcome<unknown>>,
    regions?: readonly string[],
  ): Replica;
  /** Counts the rows by status. */
  statuses(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** How outages differ from the usual ones. */
interface OpenOptions {
  /** Now, if it is absent. */
  readonly confirmedAt?: Date;
  readonly checkType?: ProbedType;
  readonly settings?: Partial<MonitorSettings>;
}

/** A check that failed at the target. */
export const NO_ANSWER: Outcome<unknown> = {
  status: "failed",
  stage: "connect",
  source: "target",
  reason: "timeout",
  message: "no answer",
};

/** Opens a world. Call `close` in afterAll. */
export async function openEvidenceWorld(): Promise<EvidenceWorld> {
  const database = await createTestDatabase();
  const sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 30_000 });
  const replicas: Replica[] = [];
  return {
    databaseUrl: database.url,
    sql,
    async createAccount() {
      const [row] = await sql<{ id: number }[]>`
        insert into accounts (plan, created_at, updated_at) values ('captain', now(), now()) returning id`;
      return row?.id ?? 0;
    },
    async open(accountId, urls, options = {}) {
      const { confirmedAt = new Date(), checkType = "http" } = options;
      const settings = { ...DEFAULT_SETTINGS, locations: ["eu-west"], timeout_seconds: 5, ...options.settings };
      const ids = await transact(sql, async (tx) => {
        const made = await reserveIds(tx, urls.length);
        const rest = {
          intervalMinutes: 1,
          isActive: true,
          pausedReason: null,
          tags: [],
          dependsOn: null,
          secrets: null,
        };
        const rows = made.map((id, index) => {
          return {
            ...rest,
            id,
            accountId,
            name: `m${id}`,
            url: urls[index] ?? "",
            checkType,
            settings,
          };
        });
        await insertMonitors(tx, rows, confirmedAt);
        await insertStates(tx, made);
        return made;
      });
      const incidents: Incident[] = [];
      for (const [index, id] of ids.entries()) {
        const url = urls[index] ?? "";
        const monitor = { id, accountId, name: `m${id}`, url, checkType, settings };
        const fault = { stage: "connect", source: "target", reason: "timeout", message: "no answer" } as const;
        const failing = [{ location: "eu-west", fault }];
        await transact(sql, async (tx) => {
          const outage = { monitor, startedAt: confirmedAt, confirmedAt, failing, suppressedBy: null };
          for (const { incident } of await openOutages(tx, [outage])) {
            await requestEvidence(tx, [
              { incidentId: incident.id, cause: { code: "connect_timeout", message: "" }, confirmedAt, monitor },
            ]);
            incidents.push(incident);
          }
        });
      }
      return incidents;
    },
    startReplica(answer = () => NO_ANSWER, regions = ["eu-west"]) {
      const log = pino({ level: "silent" });
      const clock = systemClock;
      const client = connect(database.url, { name: "test replica", connections: 4, statementTimeoutMs: 30_000 });
      const listener = connectListener(database.url, "test listener");
      const hub = createHub({ clock, random: systemRandom, log, registry: new Registry() });
      const jobs: string[] = [];
      const agents = regions.map((region) =>
        attachAgent(hub, helloOf(region, { credits: 200, maxJobs: 200 }), {}, (job) => {
          jobs.push(job.tool);
          return answer(job);
        }),
      );
      const beats = setInterval(() => {
        for (const agent of agents) agent.beat(200);
      });
      const checks = { hub, clock, results: createResultCache(clock) };
      const worker = startEvidenceWorker({
        timers: liveTimers,
        sql: client,
        checks,
        clock,
        log,
        registry: new Registry(),
        notifications: createNotifications(listener, liveTimers),
        retentionMs: 86_400_000,
        encryption: createEncryption(MASTER_KEY, systemRandom),
      });
      const baselines = openBaselines({ sql: client, log, clock, checks });
      const replica = {
        jobs,
        baselines,
        async stop() {
          clearInterval(beats);
          await worker.stop(100);
          await baselines.stop();
          hub.stop();
          await Promise.all([endClient(client), endClient(listener)]);
        },
      };
      replicas.push(replica);
      return replica;
    },
    async statuses() {
      const rows = await sql<{ status: string; n: number }[]>`
        select status, count(*)::integer as n from incident_evidence group by status`;
      return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await sql.end();
      await database.drop();
    },
  };
}
