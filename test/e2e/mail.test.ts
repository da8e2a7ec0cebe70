import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MailServer } from "#shared/settings/mail-server.ts";
import { startMailSink, type MailSink, type MailSinkOptions } from "#test/servers/mail-sink.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { manyChanges, openMailWorld, type MailWorld } from "#test/support/mail-world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import type { ReceivedMail } from "#test/support/received-mail.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const BASE = "https://status.example.com";
const OPS = "ops@example.com";
let plane: TestControlPlane | undefined;
let sink: MailSink;
let world: MailWorld;
let behaviour: Pick<MailSinkOptions, "onRecipient" | "onMessage">;

const database = await stopAfterAll(createTestDatabase());
beforeEach(async () => {
  behaviour = {};
  sink = await startMailSink({
    onRecipient: (address) => behaviour.onRecipient?.(address) ?? "accept",
    onMessage: (mail) => behaviour.onMessage?.(mail) ?? "accept",
  });
  world = await openMailWorld(database.url);
});
afterEach(async () => {
  await plane?.stop();
  plane = undefined;
  await world.sql`truncate accounts cascade`;
  await world.close();
  await sink.close();
});

/** Starts the control plane with the mail server of this test. */
async function start(): Promise<TestControlPlane> {
  const server: MailServer = {
    host: "127.0.0.1",
    port: sink.port,
    tls: "offered",
    isVerified: true,
    credentials: null,
  };
  plane = await startControlPlane({
    databaseUrl: database.url,
    config: { mail: { server, from: "Vantage <alerts@example.com>" }, baseUrl: BASE },
  });
  return plane;
}

async function arrived(count: number): Promise<void> {
  await expect.poll(() => sink.mails.length).toBe(count);
}
const mailAt = (index: number): ReceivedMail => {
  const mail = sink.mails[index];
  if (mail === undefined) throw new Error(`there is no mail ${index}`);
  return mail;
};

describe("a notice", () => {
  it("arrives with what people and programs need", async () => {
    await start();
    await world.confirm(OPS);
    const publishedAt = Date.now();
    const [id] = await world.publish([OPS], [{ incidentId: 12 }]);
    await arrived(1);
    const mail = mailAt(0);
    expect(mail).toMatchObject({ from: "alerts@example.com", to: OPS });
    expect(mail.header("from")).toBe("Vantage <alerts@example.com>");
    expect(mail.header("to")).toBe(OPS);
    expect(mail.header("subject")).toBe("Down: shop - HTTP 503 instead of 200");
    expect(mail.header("x-service-event")).toBe("monitor.down");
    expect(mail.header("x-service-incident")).toBe("12");
    expect(mail.header("list-id")).toBe("Vantage alerts <alerts.status.example.com>");
    expect(mail.header("auto-submitted")).toBe("auto-generated");
    expect(mail.header("references")).toBe("<incident.12@status.example.com>");
    expect(mail.header("in-reply-to")).toBe("<incident.12@status.example.com>");
    expect(mail.header("message-id")?.replace(/\.\d+@/, "@")).toBe(`<${id}@status.example.com>`);
    const date = Date.parse(mail.header("date") ?? "");
    // In whole seconds, by the clock of the database.
    expect(date).toBeGreaterThan(publishedAt - 2_000);
    expect(date).toBeLessThan(Date.now() + 1_000);
    expect(mail.text).toMatch(/^Cause: +HTTP 503 instead of 200 from 3 of 3 locations$/m);
    expect(mail.text).toMatch(/^Incident: +https:\/\/status\.example\.com\/i\/\S+$/m);
    expect(mail.text).not.toContain("/api/v4");
    expect(mail.html).toContain("HTTP 503 instead of 200");
    await expect.poll(() => world.read()).toMatchObject([{ status: "delivered", attempts: 1, error_code: null }]);
  });

  it.each([
    ["line breaks", "shop\r\nBcc: victim@example.com\r\n\r\n<b>body</b>"],
    ["bare line feeds", "shop\nX-Service-Event: forged\n.\nMAIL FROM:<a@example.com>"],
    ["characters that turn text around", "\u202eshop\u2066\u2069"],
    ["separators of lines", "a\u2028b\u2029c\u0085d\u000be"],
    ["10 KB", "x".repeat(10_000)],
    ["an encoded word", "=?UTF-8?Q?=0D=0ABcc:_victim@example.com?="],
    ["NUL and broken pairs", "a\u0000b\ud83d"],
    ["quotes and brackets", '"a" <victim@example.com>, b@example.com'],
  ])("about a monitor whose name has %s has no other header fields or recipients", async (_, name) => {
    await start();
    await world.confirm(OPS);
    const monitor = { id: 1, name, url: `https://shop.example.com/${name}`, check_type: "http" };
    await world.publish([OPS], [{ monitor, cause: { code: "x", message: name } }]);
    await arrived(1);
    const mail = mailAt(0);
    expect(mail.to).toBe(OPS);
    const fields = mail.fields.map(([field]) => field);
    expect(fields.toSorted()).toEqual(FIELDS);
    expect(mail.header("x-service-event")).toBe("monitor.down");
    const subject = mail.header("subject") ?? "";
    expect(subject).toMatch(/^Down: /);
    expect(Array.from(subject).length).toBeLessThanOrEqual("Down: ".length + 120 + " - ".length + 120);
    expect(mail.raw).not.toMatch(/(?<!\r)\n|\r(?!\n)/);
    for (const line of mail.raw.split("\r\n")) expect(line.length).toBeLessThanOrEqual(998);
    expect(mail.text).not.toMatch(/\u202e|\u2066/);
  });

  it("is not sent to an address that was not confirmed", async () => {
    await start();
    await world.confirm(OPS);
    await world.publish([OPS, "other@example.com"], [{}]);
    await arrived(1);
    expect(await world.read()).toHaveLength(1);
  });
});

const FIELDS = [
  "auto-submitted",
  "content-type",
  "date",
  "from",
  "list-id",
  "list-unsubscribe",
  "list-unsubscribe-post",
  "message-id",
  "mime-version",
  "subject",
  "to",
  "x-auto-response-suppress",
  "x-service-event",
];

describe("a mail server", () => {
  it("that is busy gets the same mail again: the same Message-ID and content", async () => {
    const refused: ReceivedMail[] = [];
    behaviour.onMessage = (mail) => {
      if (refused.length > 0) return "accept";
      refused.push(mail);
      return 451;
    };
    await start();
    await world.confirm(OPS);
    await world.publish([OPS], [{}]);
    await expect
      .poll(() => world.read())
      .toMatchObject([{ status: "retrying", attempts: 1, error_code: "smtp_message_refused" }]);
    await world.hurry();
    await arrived(1);
    expect(mailAt(0).header("message-id")).toBe(refused[0]?.header("message-id"));
    expect(mailAt(0).text).toBe(refused[0]?.text);
    await expect.poll(() => world.read()).toMatchObject([{ status: "delivered", attempts: 2 }]);
  });

  it("that refuses a recipient for good is not asked again, and the others get theirs", async () => {
    behaviour.onRecipient = (address) => (address === "gone@example.com" ? 550 : "accept");
    await start();
    await world.confirm(OPS, "gone@example.com");
    await world.publish([OPS, "gone@example.com"], [{}]);
    await arrived(1);
    await expect
      .poll(async () => (await world.read()).map(({ status }) => status).toSorted())
      .toEqual(["delivered", "failed"]);
  });

  it("that closes the connection after the message gets it again, recognisable by its Message-ID", async () => {
    behaviour.onMessage = () => (sink.mails.length === 0 ? "drop" : "accept");
    await start();
    await world.confirm(OPS);
    await world.publish([OPS], [{}]);
    await expect.poll(() => world.read()).toMatchObject([{ error_code: "smtp_connection_lost" }]);
    await world.hurry();
    await arrived(2);
    expect(mailAt(1).header("message-id")).toBe(mailAt(0).header("message-id"));
  });

  it("that hangs for one recipient delays no other", async () => {
    behaviour.onRecipient = (address) => (address === "slow@example.com" ? new Promise(() => {}) : "accept");
    await start();
    await world.confirm(OPS, "slow@example.com");
    await world.publish(["slow@example.com"], [{}]);
    for (let n = 1; n <= 4; n += 1) await world.publish([OPS], [{}]);
    await arrived(4);
    expect(sink.mails.map(({ to }) => to)).toEqual([OPS, OPS, OPS, OPS]);
  });
});

describe("many notices", () => {
  it("at the same time are one mail with their number and names", async () => {
    await start();
    await world.confirm(OPS);
    await world.publish([OPS], manyChanges(50));
    await arrived(1);
    const mail = mailAt(0);
    expect(mail.header("subject")).toBe("50 down: m1, m2, m3 and 47 more");
    expect(mail.header("x-service-event")).toBe("digest");
    for (let n = 1; n <= 50; n += 1) expect(mail.text).toContain(`Down: m${n} (`);
    await expect.poll(async () => (await world.read()).every(({ status }) => status === "delivered")).toBe(true);
    expect(await world.read()).toHaveLength(50);
  });

  it("are in the threads of their incidents", async () => {
    await start();
    await world.confirm(OPS);
    const changes = manyChanges(6).map((change, n) => ({ ...change, incidentId: 20 + (n % 2) }));
    await world.publish([OPS], changes);
    await arrived(1);
    expect(mailAt(0).header("in-reply-to")).toBe("<incident.20@status.example.com>");
    expect(mailAt(0).header("references")).toBe("<incident.20@status.example.com> <incident.21@status.example.com>");
  });

  it("one after the other are four mails and then one", async () => {
    await start();
    await world.confirm(OPS);
    for (const [index, change] of manyChanges(4).entries()) {
      await world.publish([OPS], [change]);
      await arrived(index + 1);
    }
    for (const change of manyChanges(16, 5)) await world.publish([OPS], [change]);
    await expect.poll(async () => (await world.sql`select from deliveries where held_by = 'window'`).length).toBe(16);
    expect(sink.mails).toHaveLength(4);
    await world.sql`update deliveries set released_at = released_at - interval '30 s'`;
    await world.hurry();
    await arrived(5);
    expect(mailAt(4).header("subject")).toBe("16 down: m5, m6, m7 and 13 more");
  });

  it("beyond a hundred are counted", async () => {
    await start();
    await world.confirm(OPS);
    await world.publish([OPS], manyChanges(250));
    await arrived(1);
    expect(mailAt(0).header("subject")).toContain("250 notices");
    expect(mailAt(0).text).toContain("- and 150 more");
    await expect.poll(async () => (await world.read()).every(({ status }) => status === "delivered")).toBe(true);
  });

  it("about a flapping monitor wait for the notice of its flapping, and arrive with it", async () => {
    await start();
    await world.confirm(OPS);
    await world.publish([OPS], [{ isFlapping: true }, { kind: "flapping", current: "down", phase: "begins" }]);
    await arrived(1);
    expect(mailAt(0).header("subject")).toBe("Flapping: shop");
    expect(mailAt(0).header("x-service-event")).toBe("flapping");
    for (const kind of ["up", "down", "up"] as const) await world.publish([OPS], [{ kind, isFlapping: true }]);
    await expect.poll(async () => (await world.sql`select from deliveries where held_by = 'flapping'`).length).toBe(3);
    expect(sink.mails).toHaveLength(1);
    await world.sql`update deliveries set released_at = released_at - interval '1 min'`;
    await world.publish([OPS], [{ kind: "flapping", current: "up", phase: "ends" }]);
    await arrived(2);
    expect(mailAt(1).header("subject")).toBe("No longer flapping, up: shop");
    expect(mailAt(1).header("x-service-event")).toBe("flapping");
    expect(mailAt(1).text).toContain("shop is no longer flapping. It is up.");
    expect(mailAt(1).text.match(/ UTC (?:Recovered|Down)/g)).toHaveLength(3);
  });

  it("about a flapping heartbeat arrive when its flapping begins", async () => {
    const service = await start();
    await world.confirm(OPS);
    const made = await service.operate("POST", "/api/admin/keys", { account_id: world.accountId });
    const { key } = made.body.data as { key: string };
    const body = { name: "backup", check_type: "heartbeat", notify_email: true, notify_emails: [OPS] };
    const { id } = (await service.call("/api/v4/monitors", { key, body })).body.data as { id: number };
    const monitor = (await service.call(`/api/v4/monitors?id=${id}`, { key })).body.data as { heartbeat_url: string };
    const { pathname } = new URL(monitor.heartbeat_url);
    for (const [index, kind] of ["success", "fail", "success", "fail", "success"].entries()) {
      expect((await service.call(`${pathname}/${kind}`)).status).toBe(200);
      await arrived(index);
      await world.sql`update deliveries set released_at = released_at - interval '1 min'`;
    }
    expect((await service.call(`${pathname}/fail`)).status).toBe(200);
    await arrived(5);
    expect(mailAt(4).header("subject")).toBe("Flapping: backup");
    expect(mailAt(4).header("x-service-event")).toBe("flapping");
    expect(mailAt(4).text).toContain("Now it is down.");
  });
});

describe("an address", () => {
  it("is confirmed with the button behind the link of its mail, and not by opening the link", async () => {
    const service = await start();
    await world.ask(OPS);
    await arrived(1);
    const mail = mailAt(0);
    expect(mail.header("x-service-event")).toBe("confirm");
    const path = /https:\/\/status\.example\.com(\/mail\/confirm\/[0-9A-Za-z]{32})/.exec(mail.text)?.[1] ?? "";
    const page = await service.call(path);
    expect(page.status).toBe(200);
    expect(page.text).toContain('<form method="post">');
    expect(page.text).toContain(OPS);
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self'");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    await world.publish([OPS], [{}]);
    expect(await world.read()).toHaveLength(1);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (let n = 0; n < 2; n += 1) {
      const confirmed = await service.call(path, { method: "POST", headers: form });
      expect(confirmed.status).toBe(200);
      expect(confirmed.text).toContain("Address confirmed");
    }
    await world.publish([OPS], [{}]);
    await arrived(2);
  });

  it("is not confirmed by a wrong link", async () => {
    const service = await start();
    for (const method of ["GET", "POST"]) {
      const answer = await service.call(`/mail/confirm/${"x".repeat(32)}`, { method });
      expect(answer.status).toBe(404);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.text).toContain("not valid");
    }
    expect((await service.call("/mail/confirm/%0d%0a")).status).toBe(404);
  });
});

it("the operator sees what waits", async () => {
  behaviour.onRecipient = () => 451;
  const service = await start();
  await world.confirm(OPS);
  await world.publish([OPS], [{}]);
  await expect
    .poll(async () => {
      const { body } = await service.operate("GET", "/api/admin/queue");
      const { queues } = body.data as { queues: { queue: string; state: string; jobs: number }[] };
      return queues.filter(({ queue }) => queue === "deliveries:mail");
    })
    .toMatchObject([{ state: "retrying", jobs: 1 }]);
});

it("an account's export has its addresses, events and deliveries, without tokens", async () => {
  const service = await start();
  await world.confirm(OPS);
  await world.publish([OPS], [{}]);
  await arrived(1);
  const { body } = await service.operate("DELETE", `/api/admin/accounts?id=${world.accountId}&export=1`);
  const { export: exported } = body.data as { export: Record<string, unknown> };
  expect(exported).toMatchObject({
    mail_recipients: [{ email: OPS }],
    events: [{ type: "monitor.down" }],
    deliveries: [{ channel: "mail", recipient: OPS }],
  });
  expect(await world.sql`select from deliveries where account_id = ${world.accountId}`).toHaveLength(0);
});
