import { PgBoss } from "pg-boss";
import type { App } from "#control-plane/core/app.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { createPuller, type JobResult, type Puller } from "#control-plane/checks/jobs/pull.ts";
import type { QueueCount } from "#control-plane/checks/jobs/metrics.ts";
import { BOSS_SCHEMA, countJobs, JOB_CHANNEL, notifyQueue, toBossDatabase } from "#control-plane/checks/jobs/store.ts";

/** All queues with the payload of their jobs. A new queue needs a line here and a line in QUEUES. */
interface JobPayloads {
  /** Runs a measurement that POST /api/v4/measurements has stored. */
  readonly measurement: { readonly id: string };
  /** Runs a batch that POST /api/v4/batch has stored. */
  readonly batch: { readonly id: string; readonly accountId: number };
}

/** The name of a queue. */
type QueueName = keyof JobPayloads;

interface QueueRules {
  /** Maximum number of jobs that run at the same time in one replica. */
  readonly concurrency: number;
  /** A worker silent for this many seconds counts as dead, and its job goes to another. pg-boss's minimum is 10. */
  readonly lostAfterSeconds: number;
  /** Maximum duration of one attempt, in seconds. */
  readonly expireSeconds: number;
  /** Maximum number of attempts after the first, including those after a job went back to the queue. */
  readonly retries: number;
  /** Pause before each of these attempts, in seconds. */
  readonly retryDelaySeconds: number;
  /**
   * Maximum number of jobs of one account that run at the same time, over all replicas. Jobs of other accounts go
   * first. Only for queues whose payload has an accountId.
   */
  readonly perAccount?: number;
}

const QUEUES: Readonly<Record<QueueName, QueueRules>> = {
  // While no probe is available here the job goes back every second, for at most 30 s (jobs/durable-run/run.ts).
  measurement: { concurrency: 100, lostAfterSeconds: 10, expireSeconds: 600, retries: 200, retryDelaySeconds: 1 },
  // The same applies here. A batch has 100 checks of at most 90 s; 50 run at the same time.
  batch: {
    concurrency: 50,
    lostAfterSeconds: 10,
    expireSeconds: 1_800,
    retries: 200,
    retryDelaySeconds: 1,
    perAccount: 4,
  },
};

/** Interval in seconds at which pg-boss looks for silent workers and expired jobs. */
const SUPERVISE_SECONDS = 5;
/** Retention in seconds of the rows of ended jobs. */
const KEEP_ENDED_SECONDS = 3_600;
const CONNECTIONS = 4;

/** Does one job. Must be idempotent. `signal` is aborted when this process must stop. */
type JobWorker<Q extends QueueName> = (payload: JobPayloads[Q], signal: AbortSignal) => Promise<JobResult>;

/** Queues of background jobs. A job survives the process that accepted it. */
export interface Jobs {
  /** Creates pg-boss's schema and the queues if they are missing. Rejects while the database is away. */
  start(): Promise<void>;
  /** Makes this replica run the jobs of a queue. */
  work<Q extends QueueName>(queue: Q, worker: JobWorker<Q>): void;
  /** Sends a job if and only if the transaction commits. A worker fetches it within milliseconds of the commit. */
  send<Q extends QueueName>(tx: Transaction, queue: Q, payload: JobPayloads[Q]): Promise<void>;
  /** Counts waiting, running and ended jobs. */
  count(): Promise<readonly QueueCount[]>;
  /** Lets jobs finish for `graceMs`, then puts the others back into their queues and closes the connections. */
  stop(graceMs: number): Promise<void>;
}

/** Opens the queues of one replica. pg-boss has its own connection pool because it cannot use a postgres.js client. */
export function createJobs({
  databaseUrl,
  sql,
  notifications,
  log,
  timers,
}: Pick<App, "sql" | "log" | "timers"> & {
  readonly databaseUrl: string;
  readonly notifications: Notifications;
}): Jobs {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    application_name: "vantage jobs",
    options: "-c statement_timeout=10000",
    max: CONNECTIONS,
    schema: BOSS_SCHEMA,
    schedule: false,
    // The timers below do it, which rest.
    supervise: false,
    monitorIntervalSeconds: SUPERVISE_SECONDS - 1,
    maintenanceIntervalSeconds: 300,
    connectionTimeoutMillis: 2_000,
  });
  // pg-boss retries by itself; while the database is away each attempt emits an error.
  const noteAway = (error: unknown): void => log.debug({ err: error }, "jobs: no answer from the database");
  boss.on("error", noteAway);
  boss.on("warning", (warning) => log.warn({ warning: warning.message }, "jobs: warning from pg-boss"));
  const pullers = new Map<string, Puller>();
  let supervision: { stop(): void } | null = null;
  let isSupervising = false;

  async function supervise(): Promise<void> {
    if (isSupervising) return;
    isSupervising = true;
    await boss.supervise().catch(noteAway);
    isSupervising = false;
  }

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
        // Fills pg-boss's cache now, so that a send queries nothing else inside the caller's transaction.
        await boss.getQueueStats(name);
      }
      supervision = timers.repeat(SUPERVISE_SECONDS * 1_000, supervise);
    },
    work(name, worker) {
      const { perAccount, concurrency } = QUEUES[name];
      const fair = perAccount === undefined ? {} : { groupConcurrency: perAccount };
      const puller = createPuller({
        queue: {
          fetch: (most) => boss.fetch(name, { batchSize: most, ...fair }),
          settle: async (job, result) => {
            const attempt = { id: job.id, retryCount: job.retryCount };
            await (result === "done" ? boss.complete(name, attempt) : boss.fail(name, attempt));
          },
          touch: async (jobs) => {
            await boss.touch(
              name,
              jobs.map(({ id, retryCount }) => ({ id, retryCount })),
            );
          },
        },
        concurrency,
        log,
        timers,
        work: (data, signal) => worker(data as JobPayloads[typeof name], signal),
        onError: (error) => log.error({ err: error, queue: name }, "job failed"),
      });
      pullers.set(name, puller);
      puller.wake();
    },
    async send(tx, queue, payload) {
      const group = "accountId" in payload ? { group: { id: String(payload.accountId) } } : {};
      await boss.send(queue, payload, { db: toBossDatabase(tx), ...group });
      await notifyQueue(tx, queue);
    },
    count: () => countJobs(sql),
    async stop(graceMs) {
      supervision?.stop();
      await Promise.all(Array.from(pullers.values(), (puller) => puller.stop(graceMs)));
      await boss.stop({ graceful: false });
    },
  };
}
