// The sender of webhooks on the queue of others, in a process of its own: `peer.ts pg-boss URL COUNT ACCOUNT ID,ID,...` or
// `peer.ts graphile-worker ...`. Each job is one attempt: it is signed, sent, and recorded in a row of its own, as by the
// product. It fills the queue with jobs first, and prints how many per second are done.
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { PgBoss } from "pg-boss";
import { createEgress } from "#shared/internet/egress.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { createWebhookSender } from "#control-plane/notify/webhooks/send/sender.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";

interface Job {
  readonly deliveryId: number;
  readonly receiverId: number;
  readonly eventId: string;
  readonly body: string;
}

const TIMEOUT_MS = 15_000;
const CONCURRENCY = 128;
const INSERTED = 1_000;

const [, , kind = "", databaseUrl = "", count = "0", prefix = "", accountId = "0"] = process.argv;
const sql = connect(databaseUrl, { name: "peer", connections: 10, statementTimeoutMs: 30_000 });
const egress = createEgress({ targets: ["127.0.0.1/32"], names: [] });
const sender = createWebhookSender({
  sql,
  clock: systemClock,
  encryption: createEncryption(MASTER_KEY, systemRandom),
  installation: "0".repeat(12),
  egress,
  log: pino({ level: "silent" }),
  markGone: () => Promise.resolve(),
  settings: {
    schedule: [0],
    timeoutMs: TIMEOUT_MS,
    legacyUntil: new Date(0),
    dnsServers: null,
    userAgent: "bench",
    baseUrl: "https://vantage.example.com",
  },
});

const progress = { done: 0 };

/** Makes the attempt of a job. */
async function attempt({ deliveryId, receiverId, eventId, body }: Job): Promise<Attempt> {
  const startedAt = new Date();
  const delivery: ClaimedDelivery = {
    id: deliveryId,
    accountId: Number(accountId),
    channel: "webhook",
    receiverId,
    recipient: null,
    attempt: 1,
    startedAt: new Date(),
    isProbe: false,
    createdAt: startedAt,
    events: [{ id: eventId, type: "monitor.down", body }],
    count: 1,
  };
  const outcome = await sender.send(delivery, AbortSignal.timeout(TIMEOUT_MS));
  if (outcome.kind !== "delivered") throw new Error(JSON.stringify(outcome));
  return { deliveryId, startedAt, code: outcome.responseCode };
}

interface Attempt {
  readonly deliveryId: number;
  readonly startedAt: Date;
  readonly code: number | null;
}

/** Records attempts in one statement. */
async function record(attempts: readonly Attempt[]): Promise<void> {
  await sql`
    insert into delivery_attempts (delivery_id, attempt, started_at, ended_at, response_code)
    select id, 1, to_timestamp(ms / 1000), now(), code from unnest(
      ${attempts.map(({ deliveryId }) => deliveryId)}::bigint[],
      ${attempts.map(({ startedAt }) => startedAt.getTime())}::float8[],
      ${attempts.map(({ code }) => code)}::integer[]
    ) as given (id, ms, code)`;
  progress.done += attempts.length;
}

async function readJobs(): Promise<readonly Job[]> {
  return sql<Job[]>`
    select d.id as "deliveryId", d.receiver_id as "receiverId", e.id as "eventId", e.body
    from deliveries as d join events as e on e.id = d.event_id where e.id like ${`evt_${prefix}%`} order by d.id limit ${count}`;
}

async function untilDone(all: number): Promise<number> {
  const startedAt = performance.now();
  for (; progress.done < all; await sleep(10)) {
    if (performance.now() - startedAt > 300_000) throw new Error("not within 300 s");
  }
  return (all / (performance.now() - startedAt)) * 1_000;
}

async function runPgBoss(jobs: readonly Job[]): Promise<number> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 10 });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue("webhooks");
  for (let from = 0; from < jobs.length; from += INSERTED) {
    await boss.insert(
      "webhooks",
      jobs.slice(from, from + INSERTED).map((data) => ({ data })),
    );
  }
  await sql`analyze`;
  // Full batches follow each other without a pause; several workers, so that a batch does not wait for the slowest of another.
  const options = { batchSize: 32, localConcurrency: 4, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
  const rate = untilDone(jobs.length);
  await boss.work<Job>("webhooks", options, async (batch) =>
    record(await Promise.all(batch.map(({ data }) => attempt(data)))),
  );
  const measured = await rate;
  await boss.stop({ graceful: false });
  return measured;
}

async function runGraphileWorker(jobs: readonly Job[]): Promise<number> {
  const require = createRequire(new URL("../../peers/programs/package.json", import.meta.url));
  const graphile = require("graphile-worker") as Graphile;
  const logger = new graphile.Logger(() => () => {});
  const utils = await graphile.makeWorkerUtils({ connectionString: databaseUrl, logger });
  await utils.migrate();
  for (let from = 0; from < jobs.length; from += INSERTED) {
    await utils.addJobs(jobs.slice(from, from + INSERTED).map((payload) => ({ identifier: "send", payload })));
  }
  await utils.release();
  await sql`analyze`;
  const rate = untilDone(jobs.length);
  const runner = await graphile.run({
    connectionString: databaseUrl,
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    logger,
    // Its fast settings: jobs are fetched and completed in batches.
    preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 5, maxPoolSize: 10 } },
    taskList: { send: async (payload: unknown) => record([await attempt(payload as Job)]) },
  });
  const measured = await rate;
  await runner.stop();
  return measured;
}

/** What this program uses of graphile-worker, which is installed with the other peers. */
interface Graphile {
  readonly Logger: new (factory: () => () => void) => object;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJobs(jobs: readonly object[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
}

const jobs = await readJobs();
console.log(kind === "pg-boss" ? await runPgBoss(jobs) : await runGraphileWorker(jobs));
sender.close();
await sql.end();
process.exit(0);
