import { describe, expect, it } from "vitest";
import {
  planRelease as planFor,
  type RecentReleases,
  type WaitingDelivery,
} from "#control-plane/notify/deliveries/release/plan.ts";
import { seeded } from "#test/support/seeded.ts";

const NOW = new Date("2026-01-01T12:00:00Z");
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

function waits(id: number, more: Partial<WaitingDelivery> = {}): WaitingDelivery {
  return { id, monitorId: id, isFlapping: false, isFlappingNotice: false, heldBy: null, ...more };
}
const planRelease = (waiting: readonly WaitingDelivery[], recent: RecentReleases, now: Date) =>
  planFor(waiting, recent, now, 600_000);
const several = (count: number): readonly WaitingDelivery[] =>
  Array.from({ length: count }, (_, index) => waits(index + 1));

/** What was released: `count` deliveries, the last of them `seconds` ago. */
function released(count: number, seconds: number): RecentReleases {
  return { count, lastAt: at(-seconds), lastByMonitor: new Map() };
}
const NOTHING: RecentReleases = { count: 0, lastAt: null, lastByMonitor: new Map() };

describe("deliveries to one receiver", () => {
  it("go out separately, up to four at a time", () => {
    expect(planRelease(several(4), NOTHING, NOW)).toEqual({ messages: [[1], [2], [3], [4]], deferred: [] });
  });

  it("go out as one message if five or more are due at the same time", () => {
    expect(planRelease(several(5), NOTHING, NOW)).toEqual({ messages: [[1, 2, 3, 4, 5]], deferred: [] });
  });

  it("go out separately, up to four within 30 s", () => {
    expect(planRelease(several(2), released(2, 10), NOW)).toEqual({ messages: [[1], [2]], deferred: [] });
  });

  it("wait until 30 s have passed since the last one if there were four", () => {
    expect(planRelease(several(1), released(4, 10), NOW)).toEqual({
      messages: [],
      deferred: [{ id: 1, until: at(20), by: "window" }],
    });
  });

  it("all wait if they would be more than four", () => {
    const { messages, deferred } = planRelease(several(2), released(3, 10), NOW);
    expect(messages).toEqual([]);
    expect(deferred.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("wait together with those that wait already, also if they alone could go", () => {
    const { deferred } = planRelease([waits(1, { heldBy: "window" }), waits(2)], released(1, 10), NOW);
    expect(deferred.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("travel together after the wait, also if they are fewer than five", () => {
    const waiting = [waits(1, { heldBy: "window" }), waits(2, { heldBy: "window" }), waits(3)];
    expect(planRelease(waiting, NOTHING, NOW)).toEqual({ messages: [[1, 2, 3]], deferred: [] });
  });
});

describe("deliveries about a flapping monitor", () => {
  const flapping = { monitorId: 7, isFlapping: true } as const;
  const deferred = { ...flapping, heldBy: "flapping" } as const;

  const last = (seconds: number): RecentReleases => ({ ...NOTHING, lastByMonitor: new Map([[7, at(-seconds)]]) });

  it("go out if the last one is 10 minutes old, or unknown", () => {
    for (const recent of [NOTHING, last(600)]) {
      expect(planRelease([waits(1, flapping)], recent, NOW).messages).toEqual([[1]]);
    }
  });

  it("wait until 10 minutes have passed", () => {
    const plan = planRelease([waits(1, flapping), waits(2)], last(100), NOW);
    expect(plan).toEqual({ messages: [[2]], deferred: [{ id: 1, until: at(500), by: "flapping" }] });
  });

  it("travel together after the wait", () => {
    const waiting = [waits(1, deferred), waits(2), waits(3, deferred)];
    expect(planRelease(waiting, last(600), NOW).messages).toEqual([[1, 3], [2]]);
  });

  it("travel together if they are due at the same time", () => {
    expect(planRelease([waits(1, flapping), waits(2, flapping)], NOTHING, NOW).messages).toEqual([[1, 2]]);
  });

  it("wait for the notice of its flapping, and travel with it at once", () => {
    const notice = waits(3, { ...flapping, isFlappingNotice: true });
    const waiting = [waits(1, deferred), waits(2, flapping), notice];
    expect(planRelease(waiting, last(100), NOW)).toEqual({ messages: [[1, 2, 3]], deferred: [] });
  });

  it("that come after the notice wait for the next one, or go out by themselves if it has ended", () => {
    const notice = waits(2, { monitorId: 7, isFlappingNotice: true });
    expect(planRelease([waits(1, deferred), notice, waits(3, flapping)], last(100), NOW)).toEqual({
      messages: [[1, 2]],
      deferred: [{ id: 3, until: at(600), by: "flapping" }],
    });
    expect(planRelease([waits(1, deferred), notice, waits(3, { monitorId: 7 })], last(100), NOW)).toEqual({
      messages: [[1, 2], [3]],
      deferred: [],
    });
  });

  it("go out together as soon as the monitor is no longer flapping", () => {
    expect(planRelease([waits(1, deferred), waits(2, { monitorId: 7 })], last(100), NOW).messages).toEqual([[1, 2]]);
  });
});

/** Deliveries that wait, each until it is due. */
type Due = WaitingDelivery & { readonly dueAt: Date };

/** A receiver whose deliveries are planned as the queue does it. */
function createReceiver() {
  let waiting: readonly Due[] = [];
  const sent: { readonly at: number; readonly about: readonly WaitingDelivery[] }[] = [];
  const since = (ms: number, now: Date) => sent.filter((one) => one.at > now.getTime() - ms);
  return {
    sent,
    waiting: () => waiting,
    add: (one: WaitingDelivery, dueAt: Date) => {
      waiting = [...waiting, { ...one, dueAt }];
    },
    plan(now: Date) {
      if (!waiting.some(({ dueAt }) => dueAt <= now)) return;
      const recent = since(30_000, now);
      const lastAt = recent.at(-1)?.at;
      const lastByMonitor = new Map(
        since(600_000, now).flatMap((one) => one.about.map(({ monitorId }) => [monitorId ?? -1, new Date(one.at)])),
      );
      const count = recent.flatMap(({ about }) => about).length;
      const state = { count, lastAt: lastAt === undefined ? null : new Date(lastAt), lastByMonitor };
      const plan = planRelease(waiting, state, now);
      const planned = [...plan.messages.flat(), ...plan.deferred.map(({ id }) => id)];
      expect(planned.toSorted((a, b) => a - b)).toEqual(waiting.map(({ id }) => id));
      const byId = new Map(waiting.map((one) => [one.id, one]));
      const find = (id: number) => byId.get(id) ?? waits(id);
      for (const ids of plan.messages) sent.push({ at: now.getTime(), about: ids.map(find) });
      waiting = plan.deferred
        .map(({ id, by, until }) => ({ ...find(id), heldBy: by, dueAt: until }))
        .toSorted((a, b) => a.id - b.id);
      for (const { dueAt } of waiting) expect(dueAt.getTime()).toBeGreaterThan(now.getTime());
    },
  };
}

it("no delivery is lost or late, and no receiver gets more than four separate messages in 30 s", () => {
  const next = seeded(11);
  for (let run = 0; run < 60; run += 1) {
    const receiver = createReceiver();
    const createdAt = new Map<number, number>();
    const pace = 1 + (next() % 20) * (next() % 20);
    let now = NOW;
    let id = 0;
    for (let left = 5 + (next() % 60); left > 0 || receiver.waiting().length > 0;) {
      now = new Date(now.getTime() + (left > 0 ? Math.ceil((next() * pace) / 4) : 1_000));
      for (let together = next() % 4 === 0 ? next() % 9 : 1; together > 0 && left > 0; together -= 1, left -= 1) {
        id += 1;
        createdAt.set(id, now.getTime());
        const monitorId = next() % 5;
        receiver.add(waits(id, { monitorId, isFlapping: monitorId === 0 }), now);
      }
      receiver.plan(now);
    }
    const { sent } = receiver;
    const ids = sent.flatMap(({ about }) => about.map((one) => one.id));
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: id }, (_, index) => index + 1));
    for (const { at: start } of sent) {
      const within = sent.filter((other) => other.at >= start && other.at < start + 30_000);
      expect(within.filter(({ about }) => about.length === 1).length).toBeLessThanOrEqual(4);
    }
    const flapped = sent.filter(({ about }) => about.some(({ monitorId }) => monitorId === 0));
    for (const [index, { at: time }] of flapped.slice(1).entries()) {
      expect(time - (flapped[index]?.at ?? 0)).toBeGreaterThanOrEqual(600_000);
    }
    for (const { at: time, about } of sent) {
      for (const one of about) {
        const wait = (one.isFlapping ? 600_000 : 0) + 31_000;
        expect(time - (createdAt.get(one.id) ?? 0)).toBeLessThanOrEqual(wait + 3 * pace * 64);
      }
    }
  }
});
