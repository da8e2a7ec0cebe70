import { describe, expect, it } from "vitest";
import { checkWebhooks } from "#test/fleet/webhooks/check.ts";
import { arrivalOf, cleanHistory } from "#test/fleet/webhooks/clean-history.ts";
import type { SubscriptionChange, WebhookHistory } from "#test/fleet/webhooks/records.ts";
import { addChange } from "#test/fleet/webhooks/rules/activity.ts";

const clean = cleanHistory();
const [subscription, [outage, recovery], [first, second], [one, two, three], [quick, refused, taken]] = [
  clean.subscriptions[0] ?? expect.fail(),
  clean.events as [WebhookHistory["events"][number], WebhookHistory["events"][number]],
  clean.deliveries as [WebhookHistory["deliveries"][number], WebhookHistory["deliveries"][number]],
  clean.attempts as [
    WebhookHistory["attempts"][number],
    WebhookHistory["attempts"][number],
    WebhookHistory["attempts"][number],
  ],
  clean.arrivals as [
    WebhookHistory["arrivals"][number],
    WebhookHistory["arrivals"][number],
    WebhookHistory["arrivals"][number],
  ],
];

const rulesOf = (forged: Partial<WebhookHistory>): readonly string[] =>
  Object.keys(checkWebhooks({ ...clean, ...forged }).findings);

it("a history in which nothing is wrong has no findings", () => {
  expect(checkWebhooks(clean)).toMatchObject({ findings: {}, examples: [], events: 2, deliveries: 2, requests: 3 });
});

describe("a forged history is found:", () => {
  it("a delivery that is missing, and one too many", () => {
    const without = { deliveries: [first], attempts: [one], arrivals: [quick] };
    expect(rulesOf(without)).toEqual(["a delivery is missing"]);
    const twice = {
      deliveries: [first, { ...first, id: 3 }, second],
      attempts: [...clean.attempts, { ...one, deliveryId: 3 }],
    };
    expect(rulesOf(twice)).toContain("an event has several deliveries for one subscription");
  });

  it("a delivery to a subscription that was inactive at the time of the event", () => {
    const until = outage.createdAt - 5_000;
    const changes = [...subscription.changes, { from: until, to: until + 10, isActive: false }];
    expect(rulesOf({ subscriptions: [{ ...subscription, changes }] })).toEqual([
      "an inactive subscription has a delivery",
    ]);
    // A change at the time of the event can have come before it or after it.
    const at = [...subscription.changes, { from: outage.createdAt, to: recovery.committedAt, isActive: null }];
    expect(rulesOf({ subscriptions: [{ ...subscription, changes: at }] })).toEqual([]);
  });

  it("but not one that is missing where a 410 and a change came at the same time", () => {
    const [from, to] = [outage.createdAt - 5_000, outage.createdAt - 4_000];
    const changes: SubscriptionChange[] = [
      ...subscription.changes,
      { from: from + 500, to: from + 500, isActive: null },
    ];
    const without = { deliveries: [first], attempts: [one], arrivals: [quick] };
    const after = [...changes];
    addChange(after, { from: from + 600, to, isActive: true });
    expect(rulesOf({ ...without, subscriptions: [{ ...subscription, changes: after }] })).toEqual([
      "a delivery is missing",
    ]);
    addChange(changes, { from, to, isActive: true });
    expect(rulesOf({ ...without, subscriptions: [{ ...subscription, changes }] })).toEqual([]);
  });

  it("a delivery that has not ended, that is dead too soon, or that failed without a reason", () => {
    const withStatus = (status: string, errorCode: string | null = null) => ({
      deliveries: [first, { ...second, status, errorCode, deliveredAt: null }],
    });
    expect(rulesOf(withStatus("retrying"))).toEqual(["a delivery has not ended"]);
    expect(rulesOf(withStatus("dead"))).toEqual(["a delivery is dead before its last attempt"]);
    expect(rulesOf(withStatus("failed", "webhook_inactive"))).toEqual(["a delivery failed without a reason"]);
    expect(rulesOf(withStatus("failed", "gone"))).toEqual([]);
  });

  it("attempts that are too many, too early, uncounted, or after the delivery", () => {
    const more = [3, 4].map((attempt) => ({
      ...three,
      attempt,
      startedAt: three.startedAt + attempt * 1_000,
      endedAt: null,
    }));
    expect(rulesOf({ attempts: [one, two, three, ...more] })).toEqual([
      "a delivery has too many attempts",
      "attempts are not counted from 1 without gaps",
      "an attempt begins after the delivery",
    ]);
    const early = { ...taken, arrivedAt: (two.endedAt ?? 0) + 20 };
    expect(rulesOf({ arrivals: [quick, refused, early] })).toEqual(["an attempt is earlier than the schedule allows"]);
    // The claim was sent before its time and held back on the way.
    const claimed = { ...three, startedAt: (two.endedAt ?? 0) + 20 };
    expect(rulesOf({ attempts: [one, two, claimed] })).toEqual([]);
  });

  it("an attempt that does not wait as long as the receiver asked", () => {
    const limited = { ...refused, status: 429, retryAfter: 1 };
    const attempts = [one, { ...two, code: 429 }, three];
    expect(rulesOf({ arrivals: [quick, limited, taken], attempts })).toEqual([
      "an attempt is earlier than the schedule allows",
    ]);
  });

  it("a request before the commit, of another event, with other bytes, sent twice, or unknown", () => {
    expect(rulesOf({ events: [{ ...outage, committedAt: quick.arrivedAt + 50 }, recovery] })).toEqual([
      "a request precedes the commit",
    ]);
    expect(rulesOf({ events: [{ ...outage, body: "{}" }, recovery] })).toEqual([
      "a request does not have the id, type and bytes of its event",
    ]);
    expect(rulesOf({ arrivals: [quick, refused, { ...refused, answeredAt: null }, taken] })).toEqual([
      "an attempt was sent twice",
    ]);
    const unknown = arrivalOf({ deliveryId: 9, attempt: 1, arrivedAt: quick.arrivedAt });
    expect(rulesOf({ arrivals: [...clean.arrivals, unknown] })).toEqual(["a request has no delivery in the database"]);
  });

  it("a signature of another secret, of one scheme only, or for another time", () => {
    const other = {
      ...subscription,
      secrets: [{ ...(subscription.secrets[0] ?? expect.fail()), secret: "other-secret" }],
    };
    expect(rulesOf({ subscriptions: [other] })).toEqual(["a request has no valid signature"]);
    expect(rulesOf({ arrivals: [{ ...quick, standard: "v1,AAAA" }, refused, taken] })).toEqual([
      "a request has no valid signature",
    ]);
    expect(rulesOf({ arrivals: [{ ...quick, arrivedAt: quick.arrivedAt + 600_000 }, refused, taken] })).toContain(
      "a request was signed for another time",
    );
  });

  it("a request that follows a delivery without a fault, and a delivery that no receiver took", () => {
    const again = arrivalOf({ deliveryId: 1, attempt: 2, arrivedAt: quick.arrivedAt + 300 });
    const repeated = {
      arrivals: [quick, again, refused, taken],
      attempts: [{ ...one, errorCode: "attempt_lost" }, { ...one, attempt: 2, startedAt: again.arrivedAt }, two, three],
      deliveries: [{ ...first, attempts: 2, deliveredAt: again.arrivedAt }, second],
    };
    expect(rulesOf(repeated)).toEqual(["a request follows a delivery"]);
    const fault = { kind: "process", name: "kill", from: quick.arrivedAt, to: quick.arrivedAt + 100 } as const;
    expect(rulesOf({ ...repeated, faults: [fault] })).toEqual([]);
    expect(rulesOf({ arrivals: [quick, refused, { ...taken, answeredAt: null }] })).toEqual([
      "a delivery is recorded that no receiver took",
    ]);
  });

  it("work that resumes more than 30 s after a kill", () => {
    const late = quick.arrivedAt + 45_000;
    const lost = {
      attempts: [
        { ...one, errorCode: "attempt_lost" },
        { ...one, attempt: 2, startedAt: late, endedAt: late + 5 },
        two,
        three,
      ],
      arrivals: [
        { ...quick, status: null, answeredAt: null },
        arrivalOf({ deliveryId: 1, attempt: 2, arrivedAt: late }),
        refused,
        taken,
      ],
      deliveries: [{ ...first, attempts: 2, deliveredAt: late + 5 }, second],
      faults: [{ kind: "process", name: "kill", from: quick.arrivedAt + 1, to: quick.arrivedAt + 4_000 } as const],
    };
    expect(rulesOf(lost)).toEqual(["work resumes more than 30 s after a kill"]);
  });

  it("a ping that was answered and has no event, or two", () => {
    expect(rulesOf({ pings: [...clean.pings, { monitorId: 6, status: "down", answeredAt: 0 }] })).toEqual([
      "pings that were answered do not have their events",
    ]);
    expect(rulesOf({ pings: clean.pings.slice(0, 1) })).toEqual(["pings that were answered do not have their events"]);
  });
});
