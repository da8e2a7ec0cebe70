import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import type { Deliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import type { LoggedDelivery } from "#control-plane/notify/deliveries/log/logged.ts";
import { storeEvents } from "#control-plane/notify/events/events.ts";
import { refuseAbsent, refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";
import { findWebhook } from "#control-plane/notify/webhooks/store.ts";

/** Deliveries that a user asks for. */
export interface WebhookActions {
  /** Stores a test event for a webhook, whose one attempt `sendTest` makes. */
  beginTest(tx: Transaction, accountId: number, id: number): Promise<Written<ClaimedDelivery>>;
  /** Sends a test event. Resolves when the result is stored. */
  sendTest(delivery: ClaimedDelivery): Promise<void>;
  /** Finds a delivery of an account. */
  findDelivery(accountId: number, deliveryId: number): Promise<LoggedDelivery | null>;
  /** Sends a final delivery again. Returns the id of the new one. */
  replay(tx: Transaction, accountId: number, deliveryId: number): Promise<Written<number>>;
  /**
   * Sends again what a webhook has not got since a time, each event once. null: the last 24 hours. Returns the number of
   * events.
   */
  recover(tx: Transaction, accountId: number, id: number, since: Date | null): Promise<Written<number>>;
  /** Time that a test takes at most, milliseconds, the storing of its result included. */
  readonly testMs: number;
}

/** Time beyond the limit of an attempt after which its process counts as stopped, milliseconds. */
const GRACE_MS = 20_000;
/** Since when deliveries are recovered by default, milliseconds. */
const RECOVERED_MS = 24 * 3_600_000;
const FINAL = new Set(["delivered", "failed", "dead"]);

/** Creates the actions of one replica. `timeoutMs` limits one attempt. */
export function createWebhookActions({
  sql,
  clock,
  random,
  deliveries,
  timeoutMs,
}: Pick<App, "sql" | "clock" | "random"> & {
  readonly deliveries: Pick<Deliveries, "attempt" | "claimNew" | "log">;
  readonly timeoutMs: number;
}): WebhookActions {
  const { log } = deliveries;
  const testMs = timeoutMs + GRACE_MS;

  const find = async (on: Queryable, accountId: number, id: number): Promise<LoggedDelivery | null> =>
    (await log.find(on, accountId, id))?.delivery ?? null;

  return {
    testMs,
    async beginTest(tx, accountId, id) {
      const webhook = await findWebhook(tx, accountId, id);
      if (webhook === null) return refuseAbsent("webhook");
      const data = { message: "This is a test event.", webhook: { id, name: webhook.name } };
      const about = { monitorId: null, incidentId: null, isFlapping: false };
      const event = { ...about, accountId, type: "test" as const, createdAt: clock.now(), data };
      const [eventId = ""] = await storeEvents(tx, random, [{ event, receivers: [] }]);
      const delivery = { accountId, eventId, channel: "webhook" as const, receiverId: id };
      return { ok: true, value: await deliveries.claimNew(tx, delivery, testMs) };
    },
    sendTest: (delivery) => deliveries.attempt(delivery),
    findDelivery: (accountId, deliveryId) => find(sql, accountId, deliveryId),
    async replay(tx, accountId, deliveryId) {
      const found = await find(tx, accountId, deliveryId);
      if (found === null) return refuseAbsent("delivery");
      if (!FINAL.has(found.status)) {
        const message = `is ${found.status}: it is still being sent, and can be replayed when it has ended`;
        return refuseProblem({ field: "delivery_id", reason: "enum", message });
      }
      const webhook = await findWebhook(tx, accountId, found.receiverId);
      if (webhook === null)
        return refuseWrite({ code: "not_found", message: "The webhook of this delivery was deleted." });
      const [id = 0] = await log.replay(tx, accountId, [deliveryId], clock.now());
      return { ok: true, value: id };
    },
    async recover(tx, accountId, id, since) {
      const webhook = await findWebhook(tx, accountId, id);
      if (webhook === null) return refuseAbsent("webhook");
      const now = clock.now();
      const from = since ?? new Date(now.getTime() - RECOVERED_MS);
      return { ok: true, value: await log.recover(tx, accountId, id, { since: from, now }) };
    },
  };
}
