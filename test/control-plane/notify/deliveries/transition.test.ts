import { describe, expect, it } from "vitest";
import type { Outcome } from "#control-plane/notify/deliveries/delivery.ts";
import {
  continueAfter,
  continueAfterLoss,
  isOverdue,
  type Continuation,
} from "#control-plane/notify/deliveries/transition.ts";
import { seeded } from "#test/support/seeded.ts";

const SCHEDULE = [0, 5_000, 300_000, 1_800_000];
const HOUR = 3_600_000;
const ENDED = new Date("2026-01-01T12:00:00Z");
const after = (ms: number): Date => new Date(ENDED.getTime() + ms);
const fault = { responseCode: 450, code: "busy", message: "Busy." };
const DELIVERED: Outcome = { kind: "delivered", responseCode: 250 };
const RETRY: Outcome = { kind: "retry", ...fault };
const REFUSED: Outcome = { kind: "refused", ...fault };

describe("after an attempt", () => {
  it.each<[string, number, Outcome, Continuation["status"], number | null]>([
    ["a delivered one ends", 1, DELIVERED, "delivered", null],
    ["a delivered one ends, also on the last attempt", 4, DELIVERED, "delivered", null],
    ["a refused one ends early", 1, REFUSED, "failed", null],
    ["the first failure waits for the second delay", 1, RETRY, "retrying", 5_000],
    ["the third failure waits for the fourth delay", 3, RETRY, "retrying", 1_800_000],
    ["the last failure is the end", 4, RETRY, "dead", null],
    ["a failure after the schedule became shorter is the end", 9, RETRY, "dead", null],
    ["a receiver can ask for a longer wait", 1, { ...RETRY, waitMs: 60_000 }, "retrying", 60_000],
    ["a shorter wait than the schedule's is not used", 2, { ...RETRY, waitMs: 60_000 }, "retrying", 300_000],
    ["a wait is an hour at most", 1, { ...RETRY, waitMs: 30 * HOUR }, "retrying", HOUR],
  ])("%s", (_, attempt, outcome, status, delay) => {
    const next = continueAfter({ attempt, endedAt: ENDED, outcome }, SCHEDULE, () => 0);
    expect(next).toEqual({ status, nextAttemptAt: delay === null ? null : after(delay) });
  });

  it("jitter adds up to a fifth of the delay, and nothing to a wait that the receiver asked for", () => {
    const late = continueAfter({ attempt: 2, endedAt: ENDED, outcome: RETRY }, SCHEDULE, () => 1);
    expect(late.nextAttemptAt).toEqual(after(360_000));
    const asked = continueAfter(
      { attempt: 1, endedAt: ENDED, outcome: { ...RETRY, waitMs: 60_000 } },
      SCHEDULE,
      () => 1,
    );
    expect(asked.nextAttemptAt).toEqual(after(60_000));
  });
});

describe("after a lost attempt", () => {
  const lose = (attempt: number, now: Date) =>
    continueAfterLoss({ attempt, leaseEndedAt: ENDED }, SCHEDULE, { now, jitter: 0 });

  it("the next one follows the schedule from the end of the lease", () => {
    expect(lose(2, after(1_000))).toEqual({ status: "retrying", nextAttemptAt: after(300_000) });
  });

  it("the next one leaves time for a result that is still about to be stored", () => {
    expect(lose(1, after(60_000))).toEqual({ status: "retrying", nextAttemptAt: after(65_000) });
  });

  it("the last one is the end, and so is one that was due two days ago", () => {
    expect(lose(4, after(0)).status).toBe("dead");
    expect(lose(1, after(5_000 + 48 * HOUR - 1)).status).toBe("retrying");
    expect(lose(1, after(5_000 + 48 * HOUR)).status).toBe("dead");
  });
});

it("a delivery is overdue after 48 hours", () => {
  expect(isOverdue(ENDED, after(48 * HOUR - 1))).toBe(false);
  expect(isOverdue(ENDED, after(48 * HOUR))).toBe(true);
});

it("every history of attempts ends, within its schedule and never early", () => {
  const next = seeded(7);
  for (let run = 0; run < 2_000; run += 1) {
    const schedule = Array.from({ length: 1 + (next() % 8) }, () => next() * 1_000);
    let at = ENDED;
    for (let attempt = 1; ; attempt += 1) {
      expect(attempt).toBeLessThanOrEqual(schedule.length);
      const outcome = [DELIVERED, REFUSED, RETRY, RETRY, { ...RETRY, waitMs: next() * 60_000 }][next() % 5] ?? RETRY;
      const isLost = next() % 4 === 0;
      const now = new Date(at.getTime() + next() * 1_000);
      const continuation = isLost
        ? continueAfterLoss({ attempt, leaseEndedAt: at }, schedule, { now, jitter: next() / 255 })
        : continueAfter({ attempt, endedAt: at, outcome }, schedule, () => next() / 255);
      const { status, nextAttemptAt } = continuation;
      expect(nextAttemptAt === null).toBe(status !== "retrying");
      if (nextAttemptAt === null) {
        if (status === "dead") expect(attempt).toBe(schedule.length);
        break;
      }
      const delay = schedule[attempt] ?? 0;
      expect(nextAttemptAt.getTime() - at.getTime()).toBeGreaterThanOrEqual(delay);
      const waited = isLost || outcome.kind !== "retry" ? 0 : (outcome.waitMs ?? 0);
      const latest = isLost ? Math.max(at.getTime() + delay * 1.2, now.getTime() + 5_000) : 0;
      expect(nextAttemptAt.getTime()).toBeLessThanOrEqual(
        isLost ? latest : at.getTime() + Math.max(delay * 1.2, Math.min(waited, HOUR)),
      );
      at = nextAttemptAt;
    }
  }
});
