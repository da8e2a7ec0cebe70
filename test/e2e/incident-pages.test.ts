import { hash } from "node:crypto";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { toChangedEvent } from "#control-plane/notify/events/visual-event.ts";
import { makeToken } from "#control-plane/public/incident-pages/link.ts";
import {
  after,
  insertMonitor,
  openOutage,
  refusedAt,
  STARTED,
} from "#test/control-plane/outages/incidents/database.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { manyChanges, openMailWorld } from "#test/support/mail-world.ts";
import { pngOf } from "#test/support/pictures.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { createAccount } from "#test/support/audit.ts";

const BASE = "https://status.example.com";
const OPS = "ops@example.com";
const HOSTILE = 'Shop"><script>alert(1)</script>';

let logged = "";

const database = await stopAfterAll(createTestDatabase());
const sink = await stopAfterAll(startMailSink());
const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
const plane = await stopAfterAll(
  startControlPlane({
    databaseUrl: database.url,
    config: { mail: { server, from: "Vantage <alerts@example.com>" }, baseUrl: BASE },
    log: pino({ level: "trace" }, { write: (line: string) => (logged += line) }),
  }),
);
const world = await stopAfterAll(openMailWorld(database.url));
await world.confirm(OPS);

/** Opens an incident of a new monitor of an account. */
async function openIncident(name = "Shop", accountId = world.accountId) {
  const monitor = await insertMonitor(world.sql, accountId, name);
  const outage = {
    monitor,
    startedAt: STARTED,
    confirmedAt: after(5),
    failing: refusedAt("eu-west"),
    suppressedBy: null,
  };
  const { incident } = await transact(world.sql, (tx) => openOutage(tx, outage));
  return { monitor, incidentId: incident.id };
}

/** Returns the path of the newest mail's only link to a page. */
async function pathOfMail(count: number): Promise<string> {
  await expect.poll(() => sink.mails.length).toBe(count);
  const { text = "" } = sink.mails.at(-1) ?? {};
  expect(text).not.toContain("/api/v4");
  const links = [...text.matchAll(/https:\/\/status\.example\.com(\/i\/\S+)/g)];
  expect(links).toHaveLength(1);
  return links[0]?.[1] ?? "";
}

/** Returns the path of a link that the service made. */
async function pathTo(incidentId: number, { email = OPS, days = 30 } = {}): Promise<string> {
  const recipientId = await world.recipientId(email);
  const expiresAt = new Date(Date.now() + days * 86_400_000);
  return `/i/${makeToken(plane.app.encryption, { subject: { incidentId }, recipientId, expiresAt })}`;
}

/** Makes a monitor whose pictures can be stored. */
async function takePictures() {
  const monitor = await insertMonitor(world.sql, world.accountId, "Start page");
  await world.sql`insert into visual_states (monitor_id, basis) values (${monitor.id}, '{}')`;
  return {
    change: { accountId: world.accountId, monitor, location: "eu-west", at: new Date(), mailTo: [OPS] },
    store: async (content: Buffer): Promise<number> => {
      const [row] = await world.sql<{ id: number }[]>`
        insert into pictures (monitor_id, kind, taken_at, sha256, width, height, size, content)
        values (${monitor.id}, 'taken', now(), ${hash("sha256", content, "buffer")}, 4, 3, ${content.length}, ${content})
        returning id`;
      return row?.id ?? 0;
    },
  };
}

const acknowledge = (path: string, type = "application/x-www-form-urlencoded") =>
  plane.call(path, { method: "POST", headers: { "content-type": type } });

it("the link of a mail shows its incident without a key, and acknowledges it with the only form", async () => {
  const { monitor, incidentId } = await openIncident();
  await world.publish([OPS], [{ monitor: { ...monitor, check_type: "http" }, incidentId }]);
  const path = await pathOfMail(1);
  const page = await plane.call(path);
  expect(page.status).toBe(200);
  expect(page.text).toContain(`/app/incidents/${incidentId}">Continue in the dashboard</a>`);
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex",
    "content-security-policy": expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    ),
  });
  const parts = [
    "<h1>Down: Shop</h1>",
    "Connection refused",
    "Since 2026-03-01 12:00:00 UTC",
    "eu-west",
    "203.0.113.9:443",
  ];
  for (const part of [...parts, "https://shop.example.com/ (http)", "First failing check", "prefers-color-scheme"]) {
    expect(page.text).toContain(part);
  }
  expect(page.text).not.toContain("<script");
  expect(page.text.match(/<form/g)).toHaveLength(1);
  expect((await plane.call(path)).text).toContain("<form");

  for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"]) {
    const done = await acknowledge(path, type);
    expect(done.status).toBe(200);
    expect(done.text).toContain("Acknowledged by mail, ops@example.com");
    expect(done.text).not.toContain("<form");
  }
  expect((await plane.call(path)).text.match(/Acknowledged \(mail, ops@example\.com\)/g)).toHaveLength(1);
  // Neither the address nor its parts may be found in a log.
  expect(logged).toContain("/i/:token");
  expect(logged).not.toContain(path.slice("/i/".length, 20));
});

describe("a link", () => {
  it("that was altered, or is for an incident of somebody else, is 404", async () => {
    const { incidentId } = await openIncident();
    const path = await pathTo(incidentId);
    expect((await plane.call(path)).status).toBe(200);
    const stranger = await createAccount(plane, "pro");
    const other = await openIncident("Other", stranger.id);
    const [signature = ""] = path.split(".");
    const rest = path.slice(signature.length);
    const wrong = [
      `${signature}${rest.replace(`.${incidentId}.`, `.${incidentId + 1}.`)}`,
      await pathTo(other.incidentId),
      await pathTo(incidentId, { email: "nobody@example.com" }),
      await pathTo(incidentId + 1_000),
      "/i/x",
      `${path}/latest`,
    ];
    for (const one of wrong) {
      for (const method of ["GET", "POST"]) {
        if (method === "POST" && one.endsWith("/latest")) continue;
        const answer = await plane.call(one, { method });
        expect([one, answer.status]).toEqual([one, 404]);
        expect(answer.text).not.toContain("Shop");
        expect(answer.headers.get("content-type")).toContain("text/html");
      }
    }
    const kept = await plane.call(`/api/v4/incidents?id=${other.incidentId}`, { key: stranger.key });
    expect(kept.body.data).toMatchObject({ acknowledged: null });
  });

  it("that has expired is 410, and acknowledges nothing", async () => {
    const { incidentId } = await openIncident();
    const path = await pathTo(incidentId, { days: -1 });
    for (const method of ["GET", "POST"]) {
      const answer = await plane.call(path, { method });
      expect(answer.status).toBe(410);
      expect(answer.text).toContain("expired");
    }
    expect((await plane.call(await pathTo(incidentId))).text).toContain("<form");
  });

  it("shows names as text, and the end of a resolved incident without a form", async () => {
    const { incidentId } = await openIncident(HOSTILE);
    const path = await pathTo(incidentId);
    const page = await plane.call(path);
    expect(page.text).not.toContain("<script");
    expect(page.text).toContain("&lt;script&gt;");
    await world.sql`
      update incidents set status = 'resolved', recovered_at = ${after(125)}, resolved_at = ${after(125)}
      where id = ${incidentId}`;
    const ended = await plane.call(path);
    expect(ended.text).toContain("<h1>Recovered: Shop");
    expect(ended.text).toContain("From 2026-03-01 12:00:00 UTC to 2026-03-01 12:02:05 UTC, 2 min 5 s");
    expect(ended.text).not.toContain("<form");
  });
});

it("a digest has a link for each of its notices", async () => {
  const { length } = sink.mails;
  await world.sql`update deliveries set released_at = released_at - interval '1 hour'`;
  const { incidentId } = await openIncident("Checkout");
  const changes = manyChanges(6).map((change) => ({ ...change, incidentId }));
  await world.publish([OPS], changes);
  await expect.poll(() => sink.mails.length).toBe(length + 1);
  const { text = "", html = "" } = sink.mails.at(-1) ?? {};
  expect(text).not.toContain("/api/v4");
  const links = [...text.matchAll(/https:\/\/status\.example\.com(\/i\/\S+)/g)];
  expect(links).toHaveLength(6);
  expect((await plane.call(links[0]?.[1] ?? "")).text).toContain("<h1>Down: Checkout</h1>");
  expect(html).toContain(`<a href="${BASE}${links[0]?.[1]}">`);
});

it("a mail about a changed page leads to its pictures, and to no others", async () => {
  const { length } = sink.mails;
  await world.sql`update deliveries set released_at = released_at - interval '1 hour'`;
  const { change, store } = await takePictures();
  const shown = pngOf(4, 3);
  const acceptedId = await store(pngOf(5, 5));
  const latestId = await store(shown);
  await world.send(
    toChangedEvent({ ...change, ratio: 3.26, threshold: 0.1, acceptedId, latestId, differenceId: null }, BASE),
  );
  const path = await pathOfMail(length + 1);
  const page = await plane.call(path);
  expect(page.text).toContain("<h1>Page changed: Start page</h1>");
  expect(page.text).not.toContain("<form");
  const pictures = [...page.text.matchAll(/<img src="([^"]+)"/g)].map(([, url]) => url);
  expect(pictures).toEqual([`${path}/accepted`, `${path}/latest`]);
  const picture = await fetch(`${plane.url}${path}/latest`);
  expect(Object.fromEntries(picture.headers)).toMatchObject({
    "content-type": "image/png",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; sandbox",
  });
  expect(Buffer.from(await picture.arrayBuffer()).equals(shown)).toBe(true);
  for (const wrong of [`${path}/difference`, `${path}/${latestId}`, `${path.replace("evt_", "evt_x")}/latest`]) {
    expect((await plane.call(wrong)).status).toBe(404);
  }
  expect(sink.mails.at(-1)?.attachments).toEqual([
    { name: "accepted.png", type: "image/png", content: pngOf(5, 5) },
    { name: "latest.png", type: "image/png", content: shown },
  ]);
  // There is no incident to acknowledge.
  expect((await acknowledge(path)).status).toBe(404);
});

it("a picture of more than 1 MB is not attached, and the mail says so", async () => {
  const { length } = sink.mails;
  await world.sql`update deliveries set released_at = released_at - interval '1 hour'`;
  const { change, store } = await takePictures();
  const acceptedId = await store(pngOf(6, 6));
  const latestId = await store(Buffer.alloc(1_400_000, 7));
  const facts = { ratio: 3.26, threshold: 0.1, acceptedId, latestId, differenceId: null };
  await world.send(toChangedEvent({ ...change, ...facts }, BASE));
  await expect.poll(() => sink.mails.length).toBe(length + 1);
  const mail = sink.mails.at(-1);
  expect(mail?.attachments.map(({ name }) => name)).toEqual(["accepted.png"]);
  expect(mail?.text).toContain("Too large to attach: New picture (1.4 MB). The link shows it.");
});

it("more than 60 requests of one address in a minute are refused", async () => {
  const { incidentId } = await openIncident();
  const path = await pathTo(incidentId);
  const statuses: number[] = [];
  // The requests can fall into two minutes: in one of them are more than 60.
  for (let n = 0; n < 125; n += 1) statuses.push((await plane.call(path)).status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});
