import { signStandard, signV2 } from "#shared/webhooks/signature.ts";
import type { Arrival, Fault, Finding, KnownSecret, WebhookHistory } from "#test/fleet/webhooks/records.ts";

/** Difference between the clocks of a sender and of this host, milliseconds. */
const CLOCK_MS = 1_500;
/** Time in which a result is stored if nothing is wrong, milliseconds. */
const SETTLE_MS = 2_000;

/**
 * Promises 2, 3 and 4: no request before the commit of its event; none after a delivery was recorded; all requests of a
 * delivery have the bytes of the event, with the address of its page, and a valid signature for their own time.
 */
export function requestFindings(history: WebhookHistory): Finding[] {
  const { events, deliveries, attempts, arrivals, subscriptions, faults } = history;
  const findings: Finding[] = [];
  const eventOf = new Map(events.map((event) => [event.id, event]));
  const deliveryOf = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const secretsOf = new Map(subscriptions.map(({ id, secrets }) => [id, secrets]));
  const attemptOf = new Map(attempts.map((attempt) => [`${attempt.deliveryId} ${attempt.attempt}`, attempt]));
  const seen = new Set<string>();
  for (const arrival of arrivals) {
    const delivery = deliveryOf.get(arrival.deliveryId);
    const event = eventOf.get(delivery?.eventId ?? "");
    const about = { ...arrival, body: undefined };
    if (delivery === undefined || event === undefined) {
      findings.push({ rule: "a request has no delivery in the database", about });
      continue;
    }
    const key = `${arrival.deliveryId} ${arrival.attempt}`;
    if (seen.has(key)) findings.push({ rule: "an attempt was sent twice", about });
    seen.add(key);
    if (arrival.arrivedAt < event.committedAt - 1) findings.push({ rule: "a request precedes the commit", about });
    if (bodyWithoutPage(arrival.body) !== event.body || arrival.eventId !== event.id || arrival.type !== event.type) {
      findings.push({ rule: "a request does not have the id, type and bytes of its event", about });
    }
    const skewMs = Math.abs(arrival.timestamp * 1_000 - arrival.arrivedAt);
    if (skewMs > CLOCK_MS + 5_000) findings.push({ rule: "a request was signed for another time", about });
    if (!isSigned(arrival, secretsOf.get(delivery.webhookId) ?? [])) {
      findings.push({ rule: "a request has no valid signature", about });
    }
  }
  for (const [id, own] of Map.groupBy(arrivals, ({ deliveryId }) => deliveryId)) {
    const taken = own.find(({ status, answeredAt }) => answeredAt !== null && status !== null && status < 300);
    const isRecorded = deliveryOf.get(id)?.status === "delivered";
    if (isRecorded && taken === undefined) {
      findings.push({ rule: "a delivery is recorded that no receiver took", about: deliveryOf.get(id) });
    }
    const later = taken === undefined ? [] : own.filter(({ arrivedAt }) => arrivedAt > (taken.answeredAt ?? 0));
    if (taken === undefined || later.length === 0) continue;
    const stored = attemptOf.get(`${id} ${taken.attempt}`);
    const isExcused = stored?.errorCode === "timeout" || isDisturbed(taken, faults);
    if (!isExcused) findings.push({ rule: "a request follows a delivery", about: { stored, later: later.length, id } });
  }
  return findings;
}

/** Returns a body as its event is stored: without the address of its page, which is the last of its data. */
function bodyWithoutPage(body: string): string {
  return body.replace(/,"dashboard_url":"https?:[^"]*\/app\/(?:incidents|monitors)\/\d+"/, "");
}

/** Reports whether a fault can have kept the result of an attempt from being stored. */
function isDisturbed({ arrivedAt, answeredAt }: Arrival, faults: readonly Fault[]): boolean {
  const until = (answeredAt ?? arrivedAt) + SETTLE_MS;
  return faults.some(({ from, to }) => from <= until && to >= arrivedAt - SETTLE_MS);
}

/** Reports whether both schemes sign a request with a secret that was valid at its time. */
function isSigned(arrival: Arrival, secrets: readonly KnownSecret[]): boolean {
  const { v2, v2Previous, standard, timestamp, eventId, body, arrivedAt } = arrival;
  const present = secrets.filter(({ from }, index) => {
    const end = secrets[index + 1]?.to ?? Infinity;
    return arrivedAt >= from - CLOCK_MS && arrivedAt <= end + CLOCK_MS + 5_000;
  });
  return present.some(({ secret }) => {
    const isV2 = [v2, v2Previous].includes(signV2(secret, timestamp, body));
    return isV2 && standard.split(" ").includes(signStandard(secret, eventId, timestamp, body));
  });
}
