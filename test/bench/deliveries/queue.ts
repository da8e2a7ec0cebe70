import { setTimeout as sleep } from "node:timers/promises";
import { DELIVERIES_CHANNEL } from "#control-plane/notify/deliveries/delivery.ts";
import type { Scene } from "#test/bench/deliveries/scene.ts";

/** A body of the size of an event about an outage in three locations, with this id. */
const BODY = `{"id":"%","type":"monitor.down","created_at":"2026-01-01T00:00:00.000Z","api_version":"4.0","data":${JSON.stringify(
  {
    monitor: { id: 12, name: "Shop", url: "https://shop.example.com/", check_type: "http" },
    previous_status: "up",
    status: "down",
    cause: { code: "http_status", message: "HTTP 503 instead of 200 from 3 of 3 locations" },
    locations: ["eu-west", "us-east", "ap-south"].map((location) => ({ location, error: { message: "HTTP 503" } })),
    incident_id: 77,
    started_at: "2026-01-01T00:00:00.000Z",
    duration_seconds: null,
  },
)}}`;

/** Inserts so many events, each with one delivery, spread over the subscriptions. They are due after `delaySeconds`. */
export async function insertDeliveries(
  { sql, accountId, webhookIds }: Scene,
  {
    count,
    prefix,
    delaySeconds = 0,
  }: { readonly count: number; readonly prefix: string; readonly delaySeconds?: number },
): Promise<void> {
  await sql`
    insert into events (id, account_id, type, body, is_flapping, created_at)
    select 'evt_' || ${prefix} || n, ${accountId}, 'monitor.down', replace(${BODY}, '%', 'evt_' || ${prefix} || n), false, now()
    from generate_series(1, ${count}::integer) as n`;
  await sql`
    insert into deliveries (account_id, event_id, channel, receiver_id, due_at, released_at, is_ready, created_at)
    select ${accountId}, 'evt_' || ${prefix} || n, 'webhook', (${[...webhookIds]}::bigint[])[1 + n % ${webhookIds.length}],
      now() + ${delaySeconds} * interval '1 second', now(), ${delaySeconds} = 0, now()
    from generate_series(1, ${count}::integer) as n`;
  await sql`analyze deliveries`;
}

/** Inserts deliveries that wait behind one receiver whose last attempt failed. */
export async function insertBlocked(scene: Scene, count: number): Promise<void> {
  const id = await copyWebhook(scene, "https://127.0.0.1:1/");
  await scene.sql`
    insert into failing_receivers (channel, receiver_id, failing_since, failures, next_attempt_at)
    values ('webhook', ${id}, now(), 1, now() + interval '1 hour')`;
  await insertDeliveries({ ...scene, webhookIds: [id] }, { count, prefix: "blocked-" });
}

/** Inserts deliveries that are due now, all for one receiver at an address. */
export async function insertFor(scene: Scene, url: string, count: number): Promise<void> {
  const id = await copyWebhook(scene, url);
  await insertDeliveries({ ...scene, webhookIds: [id] }, { count, prefix: `for-${id}-` });
}

/** Inserts a subscription like the others at an address that the API would accept too. Returns its id. */
async function copyWebhook({ sql, webhookIds }: Scene, url: string): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into webhooks (account_id, name, url, is_active, format, secrets, created_at, updated_at)
    select account_id, 'copy', ${url}, true, format, secrets, now(), now()
    from webhooks where id = ${webhookIds[0] ?? 0} returning id`;
  return row?.id ?? 0;
}

/** Wakes the queue and returns how many deliveries per second are taken until all of these are recorded. */
export async function measureRate({ sql, taken }: Scene, prefix: string): Promise<number> {
  const ids = `evt_${prefix}%`;
  const [total] = await sql<{ count: number }[]>`select count(*) from deliveries where event_id like ${ids}`;
  const goal = (await taken()) + (total?.count ?? 0);
  const startedAt = Date.now();
  await sql`select pg_notify(${DELIVERIES_CHANNEL}, 'webhook')`;
  // The receiver counts: a count of the rows would be a part of what is measured.
  while ((await taken()) < goal && Date.now() - startedAt < 300_000) await sleep(100);
  for (;;) {
    await sleep(100);
    const [left] = await sql<{ count: number }[]>`
      select count(*) from deliveries where event_id like ${ids} and status in ('pending', 'retrying')`;
    if (left?.count === 0) break;
    if (Date.now() - startedAt > 300_000) throw new Error("not within 300 s");
  }
  const [end] = await sql<{ at: number; delivered: number }[]>`
    select (extract(epoch from max(delivered_at)) * 1000)::float8 as at, count(*) filter (where status = 'delivered') as delivered
    from deliveries where event_id like ${ids}`;
  if (end === undefined || end.delivered !== total?.count) throw new Error("not all were delivered");
  return (end.delivered / (end.at - startedAt)) * 1_000;
}
