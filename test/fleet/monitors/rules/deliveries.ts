import type { Action, DeliveryRow, EventRow, Finding, MonitorHistory } from "#test/fleet/monitors/records.ts";

/**
 * One delivery for each event and recipient, made at the end of the run. The recipients are those that the monitor has
 * when the event is written; while they are being changed, the old or the new ones. A mail arrives once, and once more
 * for each attempt whose outcome was lost.
 */
export function deliveryFindings({ monitors, events, deliveries, mails, actions }: MonitorHistory): Finding[] {
  const findings: Finding[] = [];
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  const recipients = new Map(monitors.map(({ id, recipients: addresses }) => [id, addresses]));
  const changes = Map.groupBy(actions, ({ monitorId }) => monitorId);
  for (const event of events) {
    const possible = recipientsAt(
      event.committedAt,
      recipients.get(event.monitorId) ?? [],
      changes.get(event.monitorId) ?? [],
    );
    const found = possible.map((addresses) => eventFindings(event, addresses, byEvent.get(event.id) ?? []));
    findings.push(...(found.toSorted((one, other) => one.length - other.length)[0] ?? []));
  }
  const copies = new Map<number, number>();
  for (const { deliveryId } of mails) copies.set(deliveryId, (copies.get(deliveryId) ?? 0) + 1);
  for (const delivery of deliveries) findings.push(...mailFindings(delivery, copies.get(delivery.id) ?? 0));
  return findings;
}

/** Lists the recipients that a monitor can have had at a time. */
function recipientsAt(
  at: number,
  first: readonly string[],
  actions: readonly Action[],
): readonly (readonly string[])[] {
  let possible = [first];
  for (const { recipients, askedAt, answeredAt } of actions) {
    if (recipients === undefined || askedAt > at) continue;
    possible = answeredAt !== null && answeredAt < at ? [recipients] : [...possible, recipients];
  }
  return possible;
}

function eventFindings(event: EventRow, recipients: readonly string[], deliveries: readonly DeliveryRow[]): Finding[] {
  const findings: Finding[] = [];
  const made = Map.groupBy(deliveries, ({ recipient }) => recipient);
  for (const recipient of recipients) {
    const count = made.get(recipient)?.length ?? 0;
    if (count === 0) findings.push({ rule: "a delivery is lost", about: { event, recipient } });
    if (count > 1) findings.push({ rule: "a delivery is doubled", about: { event, recipient, count } });
    made.delete(recipient);
  }
  for (const [recipient] of made) findings.push({ rule: "a delivery to a stranger", about: { event, recipient } });
  return findings;
}

function* mailFindings(delivery: DeliveryRow, copies: number): Generator<Finding> {
  const { status, isHeld, leaderId, lostAttempts } = delivery;
  if (status !== "delivered" && !isHeld) yield { rule: "a delivery is not made", about: delivery };
  if (leaderId !== null) return;
  if (status === "delivered" && copies === 0) yield { rule: "a delivery without a mail", about: delivery };
  if (copies > 1 + lostAttempts) yield { rule: "a mail is doubled", about: { delivery, copies } };
}
