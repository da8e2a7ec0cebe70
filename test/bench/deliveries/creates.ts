import { Agent, request } from "node:http";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "#test/bench/deliveries/scene.ts";
import { quantile } from "#test/bench/report.ts";

/** Times of creations, milliseconds from the moment at which each was to be sent. */
interface Creates {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers other than 201. */
  readonly others: number;
}

const ACCOUNTS = 50;
const CONNECTIONS = 64;

/** Creates webhooks with idempotency keys at a steady rate, in turn for several accounts. */
export async function measureCreates({ plane }: Scene, perSecond: number, seconds: number): Promise<Creates> {
  const keys: string[] = [];
  for (let account = 0; account < ACCOUNTS; account += 1) keys.push(await plane.createKey("captain"));
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const times: number[] = [];
  let others = 0;
  const started = performance.now();
  const sending: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const at = started + (index * 1_000) / perSecond;
    await sleep(Math.max(0, at - performance.now()));
    const key = keys[index % keys.length] ?? "";
    sending.push(
      (async () => {
        const status = await create(plane.url, agent, key, index);
        times.push(performance.now() - at);
        if (status !== 201) others += 1;
      })(),
    );
  }
  await Promise.all(sending);
  agent.destroy();
  const rate = (times.length / (performance.now() - started)) * 1_000;
  return { rate, p50: quantile(times, 0.5), p99: quantile(times, 0.99), others };
}

function create(url: string, agent: Agent, key: string, index: number): Promise<number> {
  const body = JSON.stringify({ name: `Hook ${index}`, url: "https://hooks.example.com/vantage" });
  const headers = {
    "content-type": "application/json",
    "content-length": String(body.length),
    "x-api-key": key,
    "x-idempotency-key": randomUUID(),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v4/webhooks`, { method: "POST", agent, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
