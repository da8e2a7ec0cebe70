import type { DeliveryRow, Finding, MonitorHistory } from "#test/fleet/monitors/records.ts";

/**
 * One delivery for each event and recipient, made at the end of the run. A mail arrives once, and once more for each
 * attempt whose outcome was lost.
 */
export function deliveryFindings({ monitors, events, deliveries, mails }: MonitorHistory): Finding[] {
  const findings: Finding[] = [];
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  const recipients = new Map(monitors.map(({ id, recipients: addresses }) => [id, addresses]));
  for (const event of events) {
    const made = Map.groupBy(byEvent.get(event.id) ?? [], ({ recipient }) => recipient);
    for (const recipient of recipients.get(event.monitorId) ?? []) {
      const count = made.get(recipient)?.length ?? 0;
      if (count === 0) findings.push({ rule: "a delivery is lost", about: { event, recipient } });
      if (count > 1) findings.push({ rule: "a delivery is doubled", about: { event, recipient, count } });
      made.delete(recipient);
    }
    for (const [recipient] of made) findings.push({ rule: "a delivery to a stranger", about: { event, recipient } });
  }
  const copies = new Map<number, number>();
  for (const { deliveryId } of mails) copies.set(deliveryId, (copies.get(deliveryId) ?? 0) + 1);
  for (const delivery of deliveries) findings.push(...mailFindings(delivery, copies.get(delivery.id) ?? 0));
  return findings;
}

function* mailFindings(delivery: DeliveryRow, copies: number): Generator<Finding> {
  const { status, isHeld, leaderId, lostAttempts } = delivery;
  if (status !== "delivered" && !isHeld) yield { rule: "a delivery is not made", about: delivery };
  if (leaderId !== null) return;
  if (status === "delivered" && copies === 0) yield { rule: "a delivery without a mail", about: delivery };
  if (copies > 1 + lostAttempts) yield { rule: "a mail is doubled", about: { delivery, copies } };
}
