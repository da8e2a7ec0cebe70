import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { systemRandom } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { openMailWorld } from "#test/support/mail-world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** For calls that count against a key. */
const SETTLES = { interval: 250 };
const OPS = "ops@example.com";

let status = 200;

const database = await stopAfterAll(createTestDatabase());
const sink = await stopAfterAll(startMailSink({}));
const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
const plane = await stopAfterAll(
  startControlPlane({
    databaseUrl: database.url,
    config: { mail: { server, from: "Vantage <alerts@example.com>" } },
  }),
);
const world = await stopAfterAll(openMailWorld(database.url));
const key = await plane.createKey("captain");
useAgent(plane, "eu-west");
const site = createServer((_request, response) => response.writeHead(status).end("ok")).listen(0, "127.0.0.1");
await once(site, "listening");

afterAll(async () => {
  site.close();
});

describe("the mail about an outage", () => {
  it("has the lines of its evidence: cause, changes and places", async () => {
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const rest = { interval_minutes: 1, locations: ["eu-west"], retries: 0, notify_email: true, notify_emails: [OPS] };
    const { id } = await createMonitor(plane, key, { url, name: "Shop", ...rest });
    await world.sql`update mail_recipients set confirmed_at = now(), wants_confirmation = false where email = ${OPS}`;
    const read = async () => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data as { status: string };
    await expect.poll(async () => (await read()).status, SETTLES).toBe("up");
    const baselines = () => world.sql`select from monitor_baselines where monitor_id = ${id}`;
    await expect.poll(async () => (await baselines()).length, SETTLES).toBe(1);
    status = 503;
    await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    const downs = () => sink.mails.filter((mail) => mail.header("x-service-event") === "monitor.down");
    await expect.poll(() => downs().length, SETTLES).toBe(1);
    const text = downs()[0]?.text ?? "";
    expect(text).toMatch(/^Cause: +HTTP 503 instead of 200 in|^Cause: +HTTP 503 instead of 200 from/m);
    expect(text).toMatch(/^Changed: +Changed since the good check at .*: status 200 -> 503(?:$|; time)/m);
    expect(text).toMatch(/^Where: +Fails from everywhere that was checked: eu-west/m);
    const [delivery] = await world.sql<{ heldBy: string | null }[]>`
      select held_by as "heldBy" from deliveries where channel = 'mail' order by id desc limit 1`;
    expect(delivery?.heldBy).toBeNull();
  });

  it("goes without them if they are not there in time, and the webhook does not wait", async () => {
    await world.confirm("late@example.com");
    const { accountId, sql } = world;
    const receivers = [{ receiverId: await world.recipientId("late@example.com"), recipient: "late@example.com" }];
    const hook = {
      channel: "webhook",
      isBundled: false,
      find: () => Promise.resolve([[{ receiverId: 5, recipient: null }]]),
    };
    const mail = { channel: "mail", isBundled: true, find: () => Promise.resolve([receivers]) };
    const events = createEvents({ random: systemRandom, sources: [mail, hook] as never });
    const at = new Date();
    const data = { monitor: { id: 9, name: "late", url: "https://a.example/", check_type: "http" } };
    const event = {
      accountId,
      type: "monitor.down",
      createdAt: at,
      data,
      monitorId: 9,
      incidentId: 99,
      isFlapping: false,
    } as const;
    const mailWaitsUntil = new Date(at.getTime() + 4_000);
    await transact(sql, (tx) => events.publish(tx, [{ ...event, mailWaitsUntil }]));
    const rows = await sql<{ channel: string; heldBy: string | null; waits: boolean }[]>`
      select channel, held_by as "heldBy", due_at > ${at} and attempts = 0 as waits from deliveries where account_id = ${accountId} order by channel`;
    expect(rows).toEqual([
      { channel: "mail", heldBy: "evidence", waits: true },
      { channel: "webhook", heldBy: null, waits: false },
    ]);
    const late = () => sink.mails.filter(({ to }) => to === "late@example.com");
    await expect.poll(() => late().length, SETTLES).toBe(1);
    expect(late()[0]?.text).not.toContain("Where:");
    const [sent] = await sql<{ waited: boolean }[]>`
      select released_at >= ${mailWaitsUntil} as waited from deliveries where account_id = ${accountId} and channel = 'mail'`;
    expect(sent?.waited).toBe(true);
  });

  it("does not wait if the recovery follows at once: the order of the mails is that of the events", async () => {
    await world.confirm("quick@example.com");
    const { accountId, sql } = world;
    const receivers = [{ receiverId: await world.recipientId("quick@example.com"), recipient: "quick@example.com" }];
    const mail = { channel: "mail", isBundled: true, find: () => Promise.resolve([receivers, receivers]) } as const;
    const events = createEvents({ random: systemRandom, sources: [mail] });
    const at = new Date();
    const data = { monitor: { id: 10, name: "quick", url: "https://a.example/", check_type: "http" } };
    const about = { accountId, createdAt: at, data, monitorId: 10, incidentId: 100, isFlapping: false } as const;
    const mailWaitsUntil = new Date(at.getTime() + 3_600_000);
    await transact(sql, (tx) =>
      events.publish(tx, [
        { ...about, type: "monitor.down", mailWaitsUntil },
        { ...about, type: "monitor.up" },
      ]),
    );
    const kinds = () =>
      sink.mails.filter(({ to }) => to === "quick@example.com").map((one) => one.header("x-service-event"));
    await expect.poll(kinds, SETTLES).toEqual(["monitor.down", "monitor.up"]);
  });
});

describe("the mails about a heartbeat", () => {
  it("have its schedule, the last success before, and the body of the failing ping in place of evidence", async () => {
    const to = { notify_email: true, notify_emails: ["jobs@example.com"], check_type: "heartbeat", name: "Backup" };
    const heartbeat = { cron: "30 2 * * *", timezone: "Europe/Berlin", grace_seconds: 900 };
    const { heartbeat_url: url } = await createMonitor(plane, key, { ...to, heartbeat });
    await world.sql`
      update mail_recipients set confirmed_at = now(), wants_confirmation = false where email = 'jobs@example.com'`;
    const ping = (tail: string, body?: string) =>
      plane.call(`${new URL(url).pathname}${tail}`, {
        method: "POST",
        ...(body === undefined ? {} : { body }),
      });
    await ping("");
    await ping("/1", "not this one");
    await ping("/3", "tar: /srv: no space\nrestic: exit status 3");
    // The address can have been asked for its confirmation before it was confirmed here.
    const mails = () =>
      sink.mails.filter((mail) => mail.to === "jobs@example.com" && mail.header("x-service-event") !== undefined);
    await expect.poll(() => mails().length, SETTLES).toBe(1);
    const down = mails()[0]?.text ?? "";
    expect(down).toMatch(/^Schedule: +30 2 \* \* \* \(Europe\/Berlin\)$/m);
    expect(down).toMatch(/^Grace: +15 min$/m);
    expect(down).toMatch(/^Last success: +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m);
    expect(down).toMatch(/^The failing ping:\n- not this one$/m);
    expect(down).not.toMatch(/^(?:Changed|Where):/m);
    await ping("/success");
    await expect.poll(() => mails().length, SETTLES).toBe(2);
    expect(mails()[1]?.text).toMatch(/^Schedule: +30 2 /m);
    expect(mails()[1]?.text).not.toContain("not this one");
  });
});
