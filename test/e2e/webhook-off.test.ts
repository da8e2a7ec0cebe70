import { expect, it } from "vitest";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { startWebhookReceiver } from "#test/support/webhook-receiver.ts";
import { createWebhook, failHeartbeat, listDeliveries, webhookSettings } from "#test/support/webhooks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const BASE = "https://vantage.example.com";
const DAYS = 5;
const FAILURES = 4;

const receiver = await stopAfterAll(startWebhookReceiver());
const sink = await stopAfterAll(startMailSink({}));
const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
const autoOff = { ms: DAYS * 86_400_000, failures: FAILURES };
const options = {
  config: {
    allow: { targets: ["127.0.0.1/32"], names: [] },
    mail: { server, from: "Vantage <alerts@example.com>" },
    baseUrl: BASE,
    webhooks: { ...webhookSettings([0, 50]), autoOff },
  },
};
const plane = await stopAfterAll(startControlPlane(options));

/** Creates an account whose address is confirmed, with a webhook. Mails to other addresses are not counted. */
async function createOwner(name: string, fields: object = {}) {
  const email = `${name}@example.com`;
  const made = await plane.operate("POST", "/api/admin/accounts", { email, plan: "pro" });
  const created = await plane.operate("POST", "/api/admin/keys", { account_id: (made.body.data as { id: number }).id });
  const { key } = created.body.data as { key: string };
  const webhook = await createWebhook(plane, key, { name, url: `${receiver.url}/secret-path`, ...fields });
  const mails = () => sink.mails.filter(({ to }) => to === email);
  await expect.poll(() => mails().length).toBe(1);
  const link = new RegExp(`${BASE}(/mail/confirm/[0-9A-Za-z]+)`).exec(mails()[0]?.text ?? "")?.[1] ?? "";
  expect((await plane.call(link, { method: "POST" })).status).toBeLessThan(400);
  return { key, id: webhook.id, mails };
}

type Owner = Awaited<ReturnType<typeof createOwner>>;

/** Lets deliveries end, each after two attempts. */
async function deliver({ key }: Owner, events: number): Promise<void> {
  const before = (await listDeliveries(plane, key)).length;
  for (let event = 0; event < events; event += 1) await failHeartbeat(plane, key, { name: `Backup ${event}` });
  await expect
    .poll(async () => (await listDeliveries(plane, key)).filter(({ status }) => /dead|delivered/.test(status)).length)
    .toBe(before + events);
}

/** Moves the failures of a webhook into the past. */
async function age({ id }: Owner, days: number): Promise<void> {
  await plane.app.sql`
    update failing_receivers set failing_since = failing_since - ${days} * interval '1 day' where receiver_id = ${id}`;
}

/** Lets a second replica start, which looks for webhooks that have failed for long. */
async function sweep(): Promise<void> {
  const other = await startControlPlane({ ...options, databaseUrl: plane.databaseUrl });
  await other.stop();
}

async function read({ key, id }: Owner): Promise<Record<string, unknown>> {
  const { body } = await plane.call("/api/v4/webhooks", { key });
  return (body.data as Record<string, unknown>[]).find((one) => one["id"] === id) ?? {};
}

it("a webhook without a success for days becomes inactive, and its account is mailed", async () => {
  receiver.replyWith(() => ({ status: 500 }));
  const owner = await createOwner("failing", { format: "slack" });
  await deliver(owner, FAILURES / 2);
  await sweep();
  expect(await read(owner)).toMatchObject({ is_active: true, inactive_reason: null });
  await age(owner, DAYS);
  await sweep();
  expect(await read(owner)).toMatchObject({ is_active: false, inactive_reason: "failing" });
  await expect.poll(() => owner.mails().length).toBe(2);
  const [, mail] = owner.mails();
  expect(mail?.header("subject")).toBe("Webhook turned off: failing");
  expect(mail?.text).toContain("4 attempts failed in a row");
  // A browser without a key sees nothing there.
  expect(mail?.text).not.toContain("/api/v4/");
  // Who knows the path of a provider's address can post there.
  expect(mail?.text).toContain(`${receiver.url}/****`);
  expect(mail?.text).not.toContain("secret-path");
  // Once, also if another replica looks.
  await sweep();
  await failHeartbeat(plane, owner.key, { name: "later" });
  expect(await listDeliveries(plane, owner.key)).toHaveLength(FAILURES / 2);
  expect(owner.mails()).toHaveLength(2);
});

it("a webhook that is turned on again has its failures counted anew", async () => {
  receiver.replyWith(() => ({ status: 500 }));
  const owner = await createOwner("again");
  await deliver(owner, FAILURES / 2);
  const change = (fields: object) =>
    plane.call(`/api/v4/webhooks?id=${owner.id}`, { method: "PUT", key: owner.key, body: fields });
  await change({ is_active: false });
  await age(owner, DAYS);
  await change({ is_active: true });
  await sweep();
  expect(await read(owner)).toMatchObject({ is_active: true, inactive_reason: null });
});

it("a webhook stays active with fewer failures, and with a success among them", async () => {
  receiver.replyWith(() => ({ status: 500 }));
  const few = await createOwner("few");
  const mixed = await createOwner("mixed");
  await deliver(few, FAILURES / 2 - 1);
  await deliver(mixed, FAILURES / 2);
  await age(few, DAYS);
  await age(mixed, DAYS);
  receiver.replyWith(() => ({ status: 204 }));
  await deliver(mixed, 1);
  await sweep();
  expect(await read(few)).toMatchObject({ is_active: true });
  expect(await read(mixed)).toMatchObject({ is_active: true });
});

it("a webhook whose receiver answers 410 becomes inactive at once, and its account is mailed", async () => {
  receiver.replyWith(() => ({ status: 410 }));
  const owner = await createOwner("gone");
  await failHeartbeat(plane, owner.key);
  await expect.poll(() => read(owner)).toMatchObject({ is_active: false, inactive_reason: "gone" });
  await expect.poll(() => owner.mails().length).toBe(2);
  expect(owner.mails()[1]?.header("x-service-event")).toBe("webhook.deactivated");
  expect(owner.mails()[1]?.text).toContain("The receiver answered 410");
  await expect
    .poll(() => listDeliveries(plane, owner.key))
    .toMatchObject([{ status: "failed", attempts: 1, error_code: "gone" }]);
});

it.each([
  ["turned on again", "mended", { is_active: true }],
  ["given another address", "moved", { url: "https://127.0.0.1/other" }],
])("a webhook that is %s before the receiver answers 410 stays active", async (_change, name, change) => {
  const owner = await createOwner(name);
  receiver.replyWith(async () => {
    const request = { method: "PUT", key: owner.key, body: change };
    expect((await plane.call(`/api/v4/webhooks?id=${owner.id}`, request)).status).toBe(200);
    return { status: 410 };
  });
  await failHeartbeat(plane, owner.key);
  await expect
    .poll(() => listDeliveries(plane, owner.key))
    .toMatchObject([{ status: "failed", attempts: 1, error_code: "gone" }]);
  expect(await read(owner)).toMatchObject({ is_active: true, inactive_reason: null });
});
