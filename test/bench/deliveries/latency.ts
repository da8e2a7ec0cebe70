import { setTimeout as sleep } from "node:timers/promises";
import { transact } from "#control-plane/core/database/transaction.ts";
import { storeEvents } from "#control-plane/notify/events/events.ts";
import type { Scene } from "#test/bench/deliveries/scene.ts";
import { quantile } from "#test/bench/report.ts";
import { systemRandom } from "#test/support/clock.ts";

/** Times from the commit of an event to its request, milliseconds. */
interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** Publishes events at a rate, each in its own transaction, and measures when the receiver gets them. */
export async function measureLatency(scene: Scene, perSecond: number, seconds: number): Promise<Latency> {
  const { sql, accountId, webhookIds } = scene;
  await scene.arrivals();
  const started = performance.now();
  const publishing: Promise<readonly string[]>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await sleep(Math.max(0, started + (index * 1_000) / perSecond - performance.now()));
    const facts = {
      accountId,
      type: "monitor.down",
      createdAt: new Date(),
      monitorId: null,
      incidentId: null,
    } as const;
    const event = { ...facts, data: { status: "down", number: index }, isFlapping: false };
    const receiverId = webhookIds[index % webhookIds.length] ?? 0;
    const receivers = [{ receiverId, recipient: null, channel: "webhook", isReleased: true } as const];
    publishing.push(transact(sql, (tx) => storeEvents(tx, systemRandom, [{ event, receivers }])));
  }
  const ids = (await Promise.all(publishing)).flat();
  await sleep(2_000);
  const arrivals = await scene.arrivals();
  const rows = await sql<{ id: string; at: number }[]>`
    select id, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as at from events
    where id = any(${ids}::text[])`;
  const times = rows.map(({ id, at }) => (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - at);
  return { count: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
