import { activityOf, canHaveBeenInactive } from "#test/fleet/webhooks/rules/activity.ts";
import type { Finding, WebhookHistory } from "#test/fleet/webhooks/records.ts";

const FINAL = new Set(["delivered", "failed", "dead"]);
const WANTED = new Set(["monitor.down", "monitor.up"]);
/** A publication reads the subscriptions between the creation of the event and its commit. Clocks differ by less. */
const MARGIN_MS = 250;

/**
 * Promise 1: every event has exactly one delivery for each subscription that was active, none for one that was not, and
 * every delivery has ended for a reason.
 */
export function deliveryFindings({ subscriptions, events, deliveries, schedule }: WebhookHistory): Finding[] {
  const findings: Finding[] = [];
  const originals = deliveries.filter(({ replayOf }) => replayOf === null);
  const byEvent = Map.groupBy(originals, ({ eventId }) => eventId);
  for (const event of events) {
    if (!WANTED.has(event.type)) continue;
    const own = byEvent.get(event.id) ?? [];
    for (const subscription of subscriptions) {
      const count = own.filter(({ webhookId }) => webhookId === subscription.id).length;
      const activity = activityOf(subscription, event.createdAt - MARGIN_MS, event.committedAt + MARGIN_MS);
      const about = { event: event.id, at: event.committedAt, webhook: subscription.id, count, activity };
      if (count > 1) findings.push({ rule: "an event has several deliveries for one subscription", about });
      if (count === 0 && activity === "active") findings.push({ rule: "a delivery is missing", about });
      if (count > 0 && activity === "inactive") {
        findings.push({ rule: "an inactive subscription has a delivery", about });
      }
    }
  }
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  for (const delivery of deliveries) {
    const subscription = byId.get(delivery.webhookId);
    if (!FINAL.has(delivery.status)) findings.push({ rule: "a delivery has not ended", about: delivery });
    if (delivery.status === "dead" && delivery.attempts !== schedule.length) {
      findings.push({ rule: "a delivery is dead before its last attempt", about: delivery });
    }
    if (delivery.status === "failed" && delivery.errorCode !== "gone") {
      const isExpected = delivery.errorCode === "webhook_deleted" || delivery.errorCode === "webhook_inactive";
      const canBe = subscription !== undefined && canHaveBeenInactive(subscription);
      if (!isExpected || !canBe) findings.push({ rule: "a delivery failed without a reason", about: delivery });
    }
  }
  return findings;
}
