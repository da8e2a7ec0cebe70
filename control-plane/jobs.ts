import type { Logger } from "pino";
import { PgBoss } from "pg-boss";
import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { createPuller, type JobVerdict, type Puller } from "#control-plane/jobs/pull.ts";
import type { QueueCount } from "#control-plane/jobs/metrics.ts";
import { BOSS_SCHEMA, countJobs, inTransaction, JOB_CHANNEL, notifyQueue } from "#control-plane/jobs/store.ts";

/** Every queue of the product and what its jobs carry. A new one is a line here and a line in QUEUES. */
interface JobPayloads {
  /** Runs a measurement that POST /api/v4/measurements has stored. */
  readonly measurement: { readonly id: string };
  /** Works through a batch that POST /api/v4/batch has stored. */
  readonly batch: { readonly id: string; readonly accountId: number };
}

/** The name of a queue. */
type QueueName = keyof JobPayloads;

interface QueueRules {
  /** Most jobs at once in one replica. */
  readonly concurrency: number;
  /** A worker that is silent for this long is dead, and its job goes to another; pg-boss allows no less than 10. */
  readonly lostAfterSeconds: number;
  /** Longest time one attempt may take. */
  readonly expireSeconds: number;
  /** Attempts after the first, handed-back ones included, and the pause before each. */
  readonly retries: number;
  readonly retryDelaySeconds: number;
  /** Most jobs of one account at once, over all replicas, where payloads name it; the others' go first. */
  readonly perAccount?: number;
}

const QUEUES: Readonly<Record<QueueName, QueueRules>> = {
  // Put back each second while no probe is available here, for half a minute at most (jobs/durable-run/run.ts).
  measurement: { concurrency: 100, lostAfterSeconds: 10, expireSeconds: 600, retries: 200, retryDelaySeconds: 1 },
  // Likewise. A batch has 100 checks of at most 90 s, of which 50 run at once.
  batch: {
    concurrency: 50,
    lostAfterSeconds: 10,
    expireSeconds: 1_800,
    retries: 200,
    retryDelaySeconds: 1,
    perAccount: 4,
  },
};

/** How often silent workers and jobs past their time are looked for. */
const SUPERVISE_SECONDS = 5;
/** How long rows of jobs that have ended are kept. */
const KEEP_ENDED_SECONDS = 3_600;
const CONNECTIONS = 4;

/** Does the work of one job; `signal` is aborted when this process must stop. Idempotent. */
type JobWorker<Q extends QueueName> = (payload: JobPayloads[Q], signal: AbortSignal) => Promise<JobVerdict>;

/** Work that outlives the process that accepted it. */
export interface Jobs {
  /** Makes pg-boss's schema and the queues where they are missing. Rejects while the database is away. */
  start(): Promise<void>;
  /** From now on this replica works on a queue. */
  work<Q extends QueueName>(queue: Q, worker: JobWorker<Q>): void;
  /** Sends a job if and only if the transaction commits; it is taken up within milliseconds of that. */
  send<Q extends QueueName>(tx: Transaction, queue: Q, payload: JobPayloads[Q]): Promise<void>;
  /** What is waiting, running and ended. */
  count(): Promise<readonly QueueCount[]>;
  /** Lets jobs finish for `graceMs`, then puts the rest back, and closes the connections. */
  stop(graceMs: number): Promise<void>;
}

/** What jobs need. */
interface JobsDeps {
  readonly databaseUrl: string;
  readonly sql: Sql;
  readonly notifications: Notifications;
  readonly log: Logger;
}

/** Opens the queues of one replica: pg-boss on a pool of its own, which a postgres.js client cannot be. */
export function createJobs({ databaseUrl, sql, notifications, log }: JobsDeps): Jobs {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    application_name: "vantage jobs",
    options: "-c statement_timeout=10000",
    max: CONNECTIONS,
    schema: BOSS_SCHEMA,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: 300,
    connectionTimeoutMillis: 2_000,
  });
  // It goes on by itself; while the database is away it says so with each attempt.
  boss.on("error", (error) => log.debug({ err: error }, "jobs: no answer from the database"));
  boss.on("warning", (warning) => log.warn({ warning: warning.message }, "jobs: warning from pg-boss"));
  const pullers = new Map<string, Puller>();
  notifications.listen(
    JOB_CHANNEL,
    (queue) => pullers.get(queue)?.wake(),
    () => {
      for (const puller of pullers.values()) puller.wake();
    },
  );

  return {
    async start() {
      await boss.start();
      for (const [name, rules] of Object.entries(QUEUES)) {
        const options = {
          heartbeatSeconds: rules.lostAfterSeconds,
          expireInSeconds: rules.expireSeconds,
          retryLimit: rules.retries,
          retryDelay: rules.retryDelaySeconds,
          deleteAfterSeconds: KEEP_ENDED_SECONDS,
        };
        await boss.createQueue(name, options);
        await boss.updateQueue(name, options);
        // Read into its cache now: a send looks nothing up inside the caller's transaction.
        await boss.getQueueStats(name);
      }
    },
    work(name, worker) {
      const { perAccount, concurrency } = QUEUES[name];
      const fair = perAccount === undefined ? {} : { groupConcurrency: perAccount };
      const puller = createPuller({
        queue: {
          fetch: (most) => boss.fetch(name, { batchSize: most, ...fair }),
          settle: async (job, verdict) => {
            const attempt = { id: job.id, retryCount: job.retryCount };
            await (verdict === "done" ? boss.complete(name, attempt) : boss.fail(name, attempt));
          },
          touch: async (jobs) => {
            await boss.touch(
              name,
              jobs.map(({ id, retryCount }) => ({ id, retryCount })),
            );
          },
        },
        concurrency,
        work: (data, signal) => worker(data as JobPayloads[typeof name], signal),
        onError: (error) => log.error({ err: error, queue: name }, "job failed"),
      });
      pullers.set(name, puller);
      puller.wake();
    },
    async send(tx, queue, payload) {
      const group = "accountId" in payload ? { group: { id: String(payload.accountId) } } : {};
      await boss.send(queue, payload, { db: inTransaction(tx), ...group });
      await notifyQueue(tx, queue);
    },
    count: () => countJobs(sql),
    async stop(graceMs) {
      await Promise.all(Array.from(pullers.values(), (puller) => puller.stop(graceMs)));
      await boss.stop({ graceful: false });
    },
  };
}
