import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { addChange } from "#test/fleet/webhooks/rules/activity.ts";
import { RECEIVERS } from "#test/fleet/webhooks/receiver.ts";
import type { Replicas } from "#test/fleet/webhooks/replicas.ts";
import type { AnsweredPing, KnownSecret, Subscription, SubscriptionChange } from "#test/fleet/webhooks/records.ts";
import { below, type Dice } from "#test/fleet/random.ts";
import type { Answer, CallOptions } from "#test/support/control-plane.ts";

/** The account of a run: its subscriptions and heartbeats, with all that was done to them. */
export interface TestedAccount {
  readonly subscriptions: readonly Subscription[];
  readonly pings: readonly AnsweredPing[];
  /** Names of the receivers that have a subscription. */
  names(): readonly string[];
  /** Changes the status of so many heartbeats, each by one ping. Resolves when all are answered. */
  changeStatuses(count: number): Promise<void>;
  setActive(name: string, isActive: boolean): Promise<void>;
  rotate(name: string): Promise<void>;
  /** Deletes the subscription of a receiver and creates another one. */
  recreate(name: string): Promise<void>;
  /** Gives the account a plan with fewer webhooks, and its old one again. */
  lowerPlan(): Promise<void>;
  /** Notes that the service makes the subscription of a receiver inactive. */
  noteGone(name: string, at: number): void;
}

interface MutableSubscription extends Subscription {
  readonly changes: SubscriptionChange[];
  readonly secrets: KnownSecret[];
}

interface Shown {
  readonly id: number;
  readonly is_active: boolean;
  readonly signing_secret?: string;
}

interface Heartbeat {
  readonly id: number;
  readonly path: string;
  status: "down" | "up";
}

const HEARTBEATS = 40;
const RETRY_MS = 250;
const CALL_MS = 20_000;
const GIVE_UP_MS = 120_000;

/** Creates the account with a subscription for each receiver and its heartbeats. */
export async function createAccount(replicas: Replicas, url: string, dice: Dice): Promise<TestedAccount> {
  const subscriptions: MutableSubscription[] = [];
  const current = new Map<string, MutableSubscription>();
  const pings: AnsweredPing[] = [];

  /** Calls any replica until it answers with this status. The effect happens once, by the idempotency key. */
  async function call(path: string, options: CallOptions, wanted: readonly number[]): Promise<Answer> {
    const headers = { "x-idempotency-key": randomUUID() };
    const last = Date.now() + GIVE_UP_MS;
    let text = "no replica runs";
    while (Date.now() < last) {
      const running = replicas.running();
      const plane = running[below(dice, running.length)];
      const answer = await plane
        ?.call(path, { headers, signal: AbortSignal.timeout(CALL_MS), ...options })
        .catch(() => null);
      if (answer != null && wanted.includes(answer.status)) return answer;
      text = answer?.text ?? text;
      await sleep(RETRY_MS);
    }
    throw new Error(`${options.method ?? "GET"} ${path} was not answered: ${text}`);
  }

  const [first] = replicas.running();
  if (first === undefined) throw new Error("no replica runs");
  const made = await first.operate("POST", "/api/admin/keys", { plan: "captain" });
  const { key, account_id: accountId } = made.body.data as { key: string; account_id: number };

  async function create(name: string): Promise<void> {
    const from = Date.now();
    const body = { name, url: `${url}/${name}` };
    const answer = await call("/api/v4/webhooks", { method: "POST", key, body }, [201]);
    const to = Date.now();
    const { id, signing_secret: secret = "" } = answer.body.data as Shown;
    const subscription: MutableSubscription = {
      id,
      isSound: name.startsWith("sound"),
      changes: [{ from, to, isActive: true }],
      secrets: [{ secret, from, to }],
    };
    subscriptions.push(subscription);
    current.set(name, subscription);
  }

  function of(name: string): MutableSubscription {
    const found = current.get(name);
    if (found === undefined) throw new Error(`no subscription ${name}`);
    return found;
  }

  const heartbeats: Heartbeat[] = [];
  for (let index = 0; index < HEARTBEATS; index += 1) {
    const body = { check_type: "heartbeat", name: `Job ${index}`, heartbeat: { period_seconds: 86_400 } };
    const { data } = (await call("/api/v4/monitors", { method: "POST", key, body }, [201])).body;
    const { id, heartbeat_url: address } = data as { id: number; heartbeat_url: string };
    const path = new URL(address).pathname;
    await call(path, {}, [200]);
    heartbeats.push({ id, path, status: "up" });
  }
  for (const name of Object.keys(RECEIVERS)) await create(name);
  let next = 0;

  return {
    subscriptions,
    pings,
    names: () => [...current.keys()],
    async changeStatuses(count) {
      const chosen = Array.from({ length: count }, () => heartbeats[next++ % heartbeats.length]);
      await Promise.all(
        chosen.map(async (heartbeat) => {
          if (heartbeat === undefined) return;
          const status = heartbeat.status === "up" ? "down" : "up";
          await call(`${heartbeat.path}${status === "down" ? "/fail" : ""}`, {}, [200]);
          heartbeat.status = status;
          pings.push({ monitorId: heartbeat.id, status, answeredAt: Date.now() });
        }),
      );
    },
    async setActive(name, isActive) {
      const { id, changes } = of(name);
      const from = Date.now();
      await call(`/api/v4/webhooks?id=${id}`, { method: "PUT", key, body: { is_active: isActive } }, [200]);
      addChange(changes, { from, to: Date.now(), isActive });
    },
    async rotate(name) {
      const { id, secrets } = of(name);
      const from = Date.now();
      const answer = await call(`/api/v4/webhooks?action=rotate&id=${id}`, { method: "POST", key }, [200]);
      secrets.push({ secret: (answer.body.data as Shown).signing_secret ?? "", from, to: Date.now() });
    },
    async recreate(name) {
      const { id, changes } = of(name);
      const from = Date.now();
      // 404 follows a deletion whose answer was lost for longer than it is kept.
      await call(`/api/v4/webhooks?id=${id}`, { method: "DELETE", key }, [200, 404]);
      changes.push({ from, to: Date.now(), isActive: false });
      await create(name);
    },
    async lowerPlan() {
      const from = Date.now();
      for (const { changes } of current.values()) changes.push({ from, to: from, isActive: null });
      for (const plan of ["pro", "captain"]) {
        await untilDone(() => replicas.running()[0]?.operate("PUT", `/api/admin/accounts?id=${accountId}`, { plan }));
        await sleep(300);
      }
      const asked = Date.now();
      const { body } = await call("/api/v4/webhooks", { key }, [200]);
      const to = Date.now();
      for (const subscription of current.values()) {
        const isActive = (body.data as Shown[]).find(({ id }) => id === subscription.id)?.is_active ?? false;
        addChange(subscription.changes, { from: asked, to, isActive });
      }
    },
    noteGone(name, at) {
      current.get(name)?.changes.push({ from: at, to: at, isActive: null });
    },
  };
}

async function untilDone(attempt: () => Promise<Answer> | undefined): Promise<void> {
  const last = Date.now() + GIVE_UP_MS;
  while (Date.now() < last) {
    const answer = await attempt()?.catch(() => null);
    if (answer?.status === 200) return;
    await sleep(RETRY_MS);
  }
  throw new Error("the operator's request was not answered");
}
