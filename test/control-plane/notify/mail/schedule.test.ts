import { expect, it } from "vitest";
import { continueAfter } from "#control-plane/notify/deliveries/transition.ts";
import { MAIL_SCHEDULE } from "#control-plane/notify/mail/mailer.ts";
import { toOutcome } from "#control-plane/notify/mail/outcome.ts";

const HOUR_S = 3_600;

it("a mail that the server takes at no attempt is sent again soon, then every hour, and given up after a day", () => {
  const outcome = toOutcome({ ok: false, fault: { stage: "message", replyCode: 451, text: "451 later" } });
  const endedAt = new Date("2026-03-01T12:00:00Z");
  const waits: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const { status, nextAttemptAt } = continueAfter({ attempt, endedAt, outcome }, MAIL_SCHEDULE, () => 0);
    if (nextAttemptAt === null) {
      expect({ status, attempt }).toEqual({ status: "dead", attempt: 29 });
      break;
    }
    waits.push((nextAttemptAt.getTime() - endedAt.getTime()) / 1_000);
  }
  expect(waits.slice(0, 5)).toEqual([10, 30, 120, 600, 1_800]);
  expect(new Set(waits.slice(5))).toEqual(new Set([HOUR_S]));
  const total = waits.reduce((sum, wait) => sum + wait, 0);
  expect(total).toBeLessThanOrEqual(24 * HOUR_S);
  expect(total).toBeGreaterThan(23 * HOUR_S);
  expect(MAIL_SCHEDULE[0]).toBe(0);
});
