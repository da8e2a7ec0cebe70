import { expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { startWebhookReceiver } from "#test/support/webhook-receiver.ts";
import { createWebhook, failHeartbeat, listDeliveries, webhookSettings } from "#test/support/webhooks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const WAIT = { interval: 500 };
/** Delays before the attempts, milliseconds: the test makes the second one due when the recovery is delivered. */
const SCHEDULE = [0, 600_000, 600_000];
const PAGERDUTY = { format: "pagerduty", format_options: { routing_key: "R".repeat(32) } };

const receiver = await stopAfterAll(startWebhookReceiver());
const plane = await stopAfterAll(
  startControlPlane({
    config: { allow: { targets: ["127.0.0.1/32"], names: [] }, webhooks: webhookSettings(SCHEDULE) },
  }),
);

it("an alert that is over is not opened by a late attempt, and not by a recovery", async () => {
  const actionOf = (body: string) => (JSON.parse(body) as { readonly event_action?: string }).event_action;
  receiver.replyWith(({ body }) => ({ status: actionOf(body) === "trigger" ? 500 : 202 }));
  const key = await plane.createKey("captain");
  const alerting = await createWebhook(plane, key, {
    name: "PagerDuty",
    url: `${receiver.url}/v2/enqueue`,
    ...PAGERDUTY,
  });
  const plain = await createWebhook(plane, key, { name: "Own", url: `${receiver.url}/own` });
  const monitor = await failHeartbeat(plane, key);
  const triggers = () => receiver.received.filter(({ body }) => actionOf(body) === "trigger").length;
  await expect.poll(triggers, WAIT).toBe(1);
  const { body } = await plane.call(`/api/v4/monitors?id=${monitor}`, { key });
  const { heartbeat_url: url } = body.data as { readonly heartbeat_url: string };
  await plane.call(new URL(url).pathname);

  const statuses = async ({ id }: { readonly id: number }) =>
    (await listDeliveries(plane, key, `?webhook_id=${id}`)).map(({ status, attempts, error_code: code }) => [
      status,
      attempts,
      code,
    ]);
  await expect
    .poll(() => statuses(alerting), WAIT)
    .toEqual([
      ["delivered", 1, null],
      ["retrying", 1, expect.any(String)],
    ]);
  await plane.app.sql`update deliveries set due_at = now() where status = 'retrying'`;
  await expect
    .poll(() => statuses(alerting), WAIT)
    .toEqual([
      ["delivered", 1, null],
      ["failed", 2, "overtaken"],
    ]);
  expect(triggers()).toBe(1);
  await expect
    .poll(() => statuses(plain), WAIT)
    .toEqual([
      ["delivered", 1, null],
      ["delivered", 1, null],
    ]);
  const recovered = await plane.call(`/api/v4/webhooks?action=recover&id=${alerting.id}`, { key, method: "POST" });
  expect(recovered.body.data).toEqual({ count: 0 });
});
