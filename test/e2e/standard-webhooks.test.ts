import { Webhook } from "standardwebhooks";
import { beforeEach, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createWebhook, failHeartbeat, webhookSettings } from "#test/support/webhooks.ts";
import { startWebhookReceiver, type ReceivedDelivery } from "#test/support/webhook-receiver.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// Real deliveries, verified by the JavaScript library that the authors of Standard Webhooks 1.0.0 publish.

let key: string;

const plane = await stopAfterAll(
  startControlPlane({
    config: { allow: { targets: ["127.0.0.1/32"], names: [] }, webhooks: webhookSettings([0, 100, 200]) },
  }),
);
const receiver = await stopAfterAll(startWebhookReceiver());
beforeEach(async () => {
  key = await plane.createKey();
  receiver.received.length = 0;
});

const create = (fields: object = {}) => createWebhook(plane, key, { url: `${receiver.url}/hook`, ...fields });

/** Lets a monitor with a name in several scripts fail; its delivery, with the body as the text that was sent. */
async function receiveOutage(): Promise<ReceivedDelivery> {
  await failHeartbeat(plane, key, { name: "Größe €\u{1f600}" });
  await expect.poll(() => receiver.received).toHaveLength(1);
  const [delivery = expect.fail("nothing arrived")] = receiver.received;
  // The receiver has the bytes as latin1.
  return { ...delivery, body: Buffer.from(delivery.body, "latin1").toString("utf8") };
}

it("the library verifies an outage with the secret that the service generated", async () => {
  const { signing_secret: secret } = await create();
  const { body, headers } = await receiveOutage();
  expect(new Webhook(secret).verify(body, { ...headers })).toMatchObject({
    id: headers["webhook-id"],
    type: "monitor.down",
    data: { monitor: { name: "Größe €\u{1f600}" } },
  });
});

it("the library verifies with a secret that the user chose, as raw bytes where it has no prefix", async () => {
  const secret = "s3cret-of-mine";
  await create({ secret });
  const { body, headers } = await receiveOutage();
  expect(new Webhook(secret, { format: "raw" }).verify(body, { ...headers })).toMatchObject({ type: "monitor.down" });
});

it("after a rotation the library verifies with the old and with the new secret", async () => {
  const { id, signing_secret: old } = await create();
  const rotated = await plane.call(`/api/v4/webhooks?action=rotate&id=${id}`, { key, method: "POST" });
  const { signing_secret: secret } = rotated.body.data as { readonly signing_secret: string };
  expect(secret).not.toBe(old);
  const { body, headers } = await receiveOutage();
  for (const one of [old, secret])
    expect(new Webhook(one).verify(body, { ...headers })).toMatchObject({ type: "monitor.down" });
});

it("the library refuses a changed body, another id, another time and another secret", async () => {
  const { signing_secret: secret } = await create();
  const { body, headers } = await receiveOutage();
  const webhook = new Webhook(secret);
  expect(() => webhook.verify(body.replace("monitor.down", "monitor.up"), { ...headers })).toThrow("No matching");
  expect(() => webhook.verify(body, { ...headers, "webhook-id": "evt_other" })).toThrow("No matching");
  const later = String(Number(headers["webhook-timestamp"]) + 1);
  expect(() => webhook.verify(body, { ...headers, "webhook-timestamp": later })).toThrow("No matching");
  const other = new Webhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  expect(() => other.verify(body, { ...headers })).toThrow("No matching");
});
