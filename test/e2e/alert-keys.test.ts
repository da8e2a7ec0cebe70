import { beforeEach, describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { startWebhookReceiver } from "#test/support/webhook-receiver.ts";
import { createWebhook, failHeartbeat, webhookSettings } from "#test/support/webhooks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const WAIT = { interval: 200 };

const pagerduty = await stopAfterAll(startWebhookReceiver());
beforeEach(() => {
  pagerduty.received.length = 0;
});

/** Alerts as PagerDuty has them: what was done to each key, in order. */
function alerts(): Readonly<Record<string, readonly string[]>> {
  const sent = pagerduty.received.map(({ body }) => JSON.parse(body) as { event_action: string; dedup_key: string });
  const byKey = Map.groupBy(sent, (one) => one.dedup_key);
  return Object.fromEntries(Array.from(byKey, ([key, events]) => [key, events.map((one) => one.event_action)]));
}

function start(databaseUrl?: string): Promise<TestControlPlane> {
  return startControlPlane({
    config: { allow: { targets: ["127.0.0.1/32"], names: [] }, webhooks: webhookSettings([0, 600_000]) },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
}

async function alertTo(plane: TestControlPlane): Promise<string> {
  const key = await plane.createKey("captain");
  const format = { format: "pagerduty", format_options: { routing_key: "R".repeat(32) } };
  await createWebhook(plane, key, { url: `${pagerduty.url}/v2/enqueue`, ...format });
  return key;
}

/** Reports that the run of a heartbeat succeeded (""), or not ("/fail"). */
async function ping(plane: TestControlPlane, key: string, id: number, result: "" | "/fail" = ""): Promise<void> {
  const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
  const { heartbeat_url: url } = body.data as { readonly heartbeat_url: string };
  await plane.call(`${new URL(url).pathname}${result}`);
}

const keyOf = ({ app }: TestControlPlane, key: string) => `vantage-${app.installation}-${key}`;

describe("two installations with one PagerDuty", () => {
  it("have an alert each for their monitors with the same id, and each resolves its own", async () => {
    const planes = [await start(), await start()] as const;
    const [one, other] = planes;
    const keys = [await alertTo(one), await alertTo(other)] as const;
    expect(one.app.installation).toMatch(/^[0-9A-Za-z]{12}$/);
    const ids = [await failHeartbeat(one, keys[0]), await failHeartbeat(other, keys[1])] as const;
    expect(ids[0]).toBe(ids[1]);
    await expect.poll(alerts, WAIT).toEqual({ [keyOf(one, "1")]: ["trigger"], [keyOf(other, "1")]: ["trigger"] });
    await ping(one, keys[0], ids[0]);
    await expect
      .poll(alerts, WAIT)
      .toEqual({ [keyOf(one, "1")]: ["trigger", "resolve"], [keyOf(other, "1")]: ["trigger"] });
    await Promise.all(planes.map((plane) => plane.stop()));
  });

  it("have the same id in each of their replicas, and after a restart", async () => {
    const first = await start();
    const second = await start(first.databaseUrl);
    expect(second.app.installation).toBe(first.app.installation);
    await second.stop();
    await first.stop();
  });
});

describe("an upgrade with open alerts", () => {
  it("resolves them by their old keys, and opens the next ones with new keys", async () => {
    const database = await createTestDatabase();
    let plane = await start(database.url);
    const key = await alertTo(plane);
    const down = await failHeartbeat(plane, key);
    const settings = { check_type: "heartbeat", heartbeat: { period_seconds: 3_600 } };
    const others: number[] = [];
    for (const name of ["degraded", "unwatched", "expiring", "held", "up"]) {
      // oxlint-disable-next-line no-await-in-loop -- their ids follow each other
      others.push((await createMonitor(plane, key, { ...settings, name })).id);
    }
    const [degraded = 0, unwatched = 0, expiring = 0, held = 0] = others;
    const stranger = await plane.createKey("captain");
    await failHeartbeat(plane, stranger);
    await expect.poll(() => pagerduty.received, WAIT).toHaveLength(1);
    await plane.stop();

    const sql = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 60_000 });
    const setState = (id: number, status: string, state: object) => sql`
      insert into monitor_states (monitor_id, status, state) values (${id}, ${status}, ${JSON.stringify(state)})
      on conflict (monitor_id) do update set status = excluded.status, state = excluded.state`;
    await setState(degraded, "up", { status: "up", degraded: true, degraded_reported: true });
    await setState(unwatched, "up", { status: "up", unwatched: [1, 1] });
    await setState(held, "down", { status: "down", held: ["undecided", "up", 1] });
    const print = "ab".repeat(32);
    const memory = [
      { identity: print, foundAt: 1, threshold: 7, expired: false, certificate: { issuer: "\u0000" } },
      { identity: "cd".repeat(32), foundAt: 1, threshold: null, expired: false },
    ];
    await sql`
      with target as (
        insert into expiry_targets (kind, target, next_at, look_at)
        values ('certificate', 'other.example:443', now() + interval '1 day', now() + interval '1 day') returning id
      )
      insert into expiry_links (monitor_id, kind, target_id, memory)
      select ${expiring}, 'certificate', id, ${JSON.stringify(memory)} from target
      on conflict (monitor_id, kind) do update set memory = excluded.memory`;
    // What the release before had not.
    await sql`drop table old_alert_keys`;
    await sql`alter table webhooks drop column old_keys_until`;
    await sql`delete from schema_migrations where name = '0060-alert-keys.sql'`;
    await migrate(database.url);
    expect(await sql`select monitor_id as id, key from old_alert_keys order by 1, 2`).toEqual([
      { id: down, key: `${down}` },
      { id: down, key: `${down}-degraded` },
      { id: degraded, key: `${degraded}-degraded` },
      { id: unwatched, key: `${unwatched}-unwatched` },
      { id: expiring, key: `${expiring}-expiring-${print.slice(0, 16)}` },
      { id: held, key: `${held}-degraded` },
    ]);
    await sql.end();

    plane = await start(database.url);
    pagerduty.received.length = 0;
    await ping(plane, key, down);
    await expect.poll(alerts, WAIT).toEqual({ [down]: ["resolve"] });
    await ping(plane, key, down, "/fail");
    const next = keyOf(plane, `${down}`);
    await expect.poll(alerts, WAIT).toEqual({ [down]: ["resolve"], [next]: ["trigger"] });
    await ping(plane, key, down);
    await expect.poll(alerts, WAIT).toEqual({ [down]: ["resolve"], [next]: ["trigger", "resolve"] });
    await plane.stop();
    await database.drop();
  });
});
