import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import type { Measured } from "#test/bench/watching/usage.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";

const RECEIVER = fileURLToPath(new URL("receiver.ts", import.meta.url));
const MOST = 1_000_000_000;
const PLANS = {
  captain: { webhooks: 100_000, monitors: 1_000, requests_per_minute: MOST, requests_per_day: MOST },
};

/** Control plane, database and receiver of a measurement. */
export interface Scene extends Measured {
  readonly plane: ControlPlaneProcess;
  readonly databaseUrl: string;
  /** Settings of a process that sends to the receiver. */
  readonly trust: { readonly NODE_EXTRA_CA_CERTS: string };
  readonly key: string;
  readonly accountId: number;
  /** Ids of the subscriptions that the measurements use. */
  readonly webhookIds: readonly number[];
  /** Number of deliveries that the receiver has taken. */
  readonly taken: () => Promise<number>;
  /** Returns the arrivals since the last call: Unix milliseconds by event id. */
  arrivals(): Promise<ReadonlyMap<string, number>>;
  end(): Promise<void>;
}

/** Starts everything, with so many subscriptions of one account. */
export async function openScene(subscriptions: number, profile: string | undefined): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "vantage-deliveries-"));
  // Under root the database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  const started = await startCluster({
    root: join(folder, "postgres"),
    settings: { track_commit_timestamp: "on", max_connections: "200" },
  });
  if (!started.ok) throw new Error(started.line);
  const { cluster } = started;
  await cluster.createDatabase("vantage");
  const [plans, authority] = [join(folder, "plans.json"), join(folder, "root.pem")];
  writeFileSync(plans, JSON.stringify(PLANS));
  const receiver = fork(RECEIVER, [authority], { stdio: "inherit" });
  const port = await askOf<number>(receiver, null);
  const trust = { NODE_EXTRA_CA_CERTS: authority };
  const databaseUrl = cluster.url("vantage");
  const plane = await startControlPlaneProcess(databaseUrl, {
    settings: { VANTAGE_PLANS: plans, VANTAGE_ALLOW_TARGETS: "127.0.0.1/32", ...trust },
    flags: profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`],
  });
  const made = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
  const { key, account_id: accountId } = made.body.data as { key: string; account_id: number };
  const webhookIds: number[] = [];
  for (let index = 0; index < subscriptions; index += 1) {
    const body = { name: `Receiver ${index}`, url: `https://127.0.0.1:${port}/${index}` };
    const answer = await plane.call("/api/v4/webhooks", { key, body });
    if (answer.status !== 201) throw new Error(answer.text);
    webhookIds.push((answer.body.data as { id: number }).id);
  }
  const sql = connect(databaseUrl, { name: "bench", connections: 4, statementTimeoutMs: 0 });
  return {
    plane,
    databaseUrl,
    trust,
    roots: { "control plane": [plane.pid], agents: [], PostgreSQL: [cluster.server.pid] },
    sql,
    key,
    accountId,
    webhookIds,
    taken: () => askOf<number>(receiver, "taken"),
    arrivals: async () => new Map(await askOf<[string, number][]>(receiver, "arrivals")),
    async end() {
      await sql.end();
      await plane.end("SIGTERM");
      receiver.kill();
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a question, if there is one, and returns the next message. */
async function askOf<T>(child: ChildProcess, question: string | null): Promise<T> {
  const answered = once(child, "message");
  if (question !== null) child.send(question);
  const [message] = (await answered) as [T];
  return message;
}
