import { signStandard, signV2 } from "#shared/webhooks/signature.ts";
import type { Arrival, WebhookHistory } from "#test/fleet/webhooks/records.ts";

/** A secret as the service generates them. */
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const AT = 1_800_000_000_000;
const SCHEDULE = [0, 200, 400];

/** A request for the event `evt_1` or `evt_2` of this history. */
export function arrivalOf(over: Partial<Arrival> & Pick<Arrival, "deliveryId" | "attempt" | "arrivedAt">): Arrival {
  const eventId = over.eventId ?? `evt_${over.deliveryId}`;
  const body = over.body ?? bodyOf(eventId);
  const timestamp = Math.floor(over.arrivedAt / 1_000);
  return {
    eventId,
    type: eventId === "evt_1" ? "monitor.down" : "monitor.up",
    body,
    timestamp,
    v2: signV2(SECRET, timestamp, body),
    v2Previous: null,
    standard: signStandard(SECRET, eventId, timestamp, body),
    status: 204,
    answeredAt: over.arrivedAt + 2,
    retryAfter: null,
    ...over,
  };
}

function bodyOf(id: string): string {
  return JSON.stringify({ id });
}

/**
 * Returns a history in which nothing is wrong: one subscription, an outage that is delivered at once, and a recovery that
 * is delivered by the second attempt.
 */
export function cleanHistory(): WebhookHistory {
  return {
    schedule: SCHEDULE,
    subscriptions: [
      {
        id: 1,
        isSound: true,
        changes: [{ from: AT - 10_000, to: AT - 9_900, isActive: true }],
        secrets: [{ secret: SECRET, from: AT - 10_000, to: AT - 9_900 }],
      },
    ],
    pings: [
      { monitorId: 5, status: "down", answeredAt: AT + 5 },
      { monitorId: 5, status: "up", answeredAt: AT + 1_005 },
    ],
    faults: [],
    arrivals: [
      arrivalOf({ deliveryId: 1, attempt: 1, arrivedAt: AT + 10 }),
      arrivalOf({ deliveryId: 2, attempt: 1, arrivedAt: AT + 1_010, status: 503 }),
      arrivalOf({ deliveryId: 2, attempt: 2, arrivedAt: AT + 1_300 }),
    ],
    events: [
      { id: "evt_1", monitorId: 5, type: "monitor.down", body: bodyOf("evt_1"), createdAt: AT, committedAt: AT + 3 },
      {
        id: "evt_2",
        monitorId: 5,
        type: "monitor.up",
        body: bodyOf("evt_2"),
        createdAt: AT + 1_000,
        committedAt: AT + 1_003,
      },
    ],
    deliveries: [
      {
        id: 1,
        eventId: "evt_1",
        webhookId: 1,
        replayOf: null,
        status: "delivered",
        attempts: 1,
        errorCode: null,
        createdAt: AT,
        deliveredAt: AT + 13,
      },
      {
        id: 2,
        eventId: "evt_2",
        webhookId: 1,
        replayOf: null,
        status: "delivered",
        attempts: 2,
        errorCode: null,
        createdAt: AT + 1_000,
        deliveredAt: AT + 1_303,
      },
    ],
    attempts: [
      { deliveryId: 1, attempt: 1, startedAt: AT + 8, endedAt: AT + 13, code: 204, errorCode: null },
      { deliveryId: 2, attempt: 1, startedAt: AT + 1_008, endedAt: AT + 1_013, code: 503, errorCode: "http_status" },
      { deliveryId: 2, attempt: 2, startedAt: AT + 1_298, endedAt: AT + 1_303, code: 204, errorCode: null },
    ],
  };
}
