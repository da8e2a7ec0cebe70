import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { createAccount, type TestedAccount } from "#test/fleet/webhooks/account.ts";
import { readDatabase } from "#test/fleet/webhooks/read.ts";
import { startReceivers } from "#test/fleet/webhooks/receiver.ts";
import type { Fault, WebhookHistory } from "#test/fleet/webhooks/records.ts";
import { startReplicas, type Replicas } from "#test/fleet/webhooks/replicas.ts";
import { createDice, type Dice } from "#test/fleet/random.ts";
import { startFaultyProxy, type FaultyProxy } from "#test/support/faulty-proxy.ts";

const PLANS = {
  captain: { monitors: 1_000, webhooks: 100, requests_per_minute: 1_000_000, requests_per_day: 1_000_000 },
  pro: { monitors: 1_000, webhooks: 6, requests_per_minute: 1_000_000, requests_per_day: 1_000_000 },
};
/** Delays before the attempts, milliseconds. A whole schedule is over within seconds. */
const SCHEDULE = [0, 200, 400, 600, 800, 1_000, 1_000, 1_000];
const REPLICAS = 2;
const POSTGRES = { track_commit_timestamp: "on", max_connections: "300", full_page_writes: "off" };
/** Time for the deliveries that are left when everything works again, milliseconds. */
const DRAIN_MS = 240_000;

/** Replicas, database, receivers and an account of one run. */
export interface World {
  readonly dice: Dice;
  readonly sql: Sql;
  readonly proxy: FaultyProxy;
  readonly replicas: Replicas;
  readonly account: TestedAccount;
  readonly receivers: Awaited<ReturnType<typeof startReceivers>>;
  readonly faults: Fault[];
  /** Ends the database server at once, as a crash does, and starts it again. */
  crashDatabase(): Promise<void>;
  /** Lets everything work, waits until every delivery has ended, and returns what is left behind. */
  finish(): Promise<WebhookHistory>;
  end(): Promise<void>;
}

/** Starts everything. */
export async function openWorld(seed: number): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "vantage-webhooks-"));
  // Under root the database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  const root = join(folder, "postgres");
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const end = async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    const started = await startCluster({ root, settings: POSTGRES });
    if (!started.ok) throw new Error(started.line);
    let { cluster } = started;
    closers.push(() => cluster.stop());
    await cluster.createDatabase("vantage");
    const { port } = cluster.server;
    const proxy = await startFaultyProxy(port);
    closers.push(() => proxy.close());
    const receivers = await startReceivers(createDice(seed + 1));
    closers.push(() => receivers.close());
    const [plans, authority] = [join(folder, "plans.json"), join(folder, "root.pem")];
    writeFileSync(plans, JSON.stringify(PLANS));
    writeFileSync(authority, receivers.root);
    const url = new URL(cluster.url("vantage"));
    url.port = String(proxy.port);
    const replicas = await startReplicas(url.href, REPLICAS, {
      VANTAGE_PLANS: plans,
      VANTAGE_ALLOW_TARGETS: "127.0.0.1/32",
      VANTAGE_WEBHOOK_RETRY_SCHEDULE: SCHEDULE.map((ms) => `${ms}ms`).join(","),
      VANTAGE_WEBHOOK_TIMEOUT: "2s",
      NODE_EXTRA_CA_CERTS: authority,
    });
    closers.push(() => replicas.stop());
    const sql = connect(cluster.url("vantage"), { name: "judge", connections: 2, statementTimeoutMs: 300_000 });
    closers.push(() => sql.end({ timeout: 5 }));
    const dice = createDice(seed);
    const account = await createAccount(replicas, receivers.url, dice);
    receivers.onGone((name, at) => account.noteGone(name, at));
    const faults: Fault[] = [];
    return {
      dice,
      sql,
      proxy,
      replicas,
      account,
      receivers,
      faults,
      async crashDatabase() {
        process.kill(cluster.server.pid, "SIGQUIT");
        await cluster.server.exited;
        await cluster.stop();
        const again = await startCluster({ root, settings: POSTGRES, port });
        if (!again.ok) throw new Error(again.line);
        cluster = again.cluster;
      },
      async finish() {
        receivers.calm();
        const last = Date.now() + DRAIN_MS;
        while (Date.now() < last && !(await hasEnded(sql))) await sleep(500);
        // A request that follows a delivery would arrive in this time.
        await sleep(3_000);
        const [crashed] = replicas.crashed();
        if (crashed !== undefined) throw new Error(`a replica ended by itself: ${crashed}`);
        const { subscriptions, pings } = account;
        const { arrivals } = receivers;
        return { schedule: SCHEDULE, subscriptions, pings, faults, arrivals, ...(await readDatabase(sql)) };
      },
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function hasEnded(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*) as waiting from deliveries where status in ('pending', 'retrying')`;
  return row?.waiting === 0;
}
