import { expect, it } from "vitest";
import { continueAfter } from "#control-plane/deliveries/transition.ts";
import { MAIL_SCHEDULE } from "#control-plane/mail/mailer.ts";
import { toOutcome } from "#control-plane/mail/outcome.ts";

const HOUR_S = 3_600;

it("a mail that the server takes at no attempt is sent eight times, and then given up", () => {
  const outcome = toOutcome({ ok: false, fault: { stage: "message", replyCode: 451, text: "451 later" } });
  const endedAt = new Date("2026-03-01T12:00:00Z");
  const waits: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const { status, nextAttemptAt } = continueAfter({ attempt, endedAt, outcome }, MAIL_SCHEDULE, () => 0);
    if (nextAttemptAt === null) {
      expect({ status, attempt }).toEqual({ status: "dead", attempt: 8 });
      break;
    }
    waits.push((nextAttemptAt.getTime() - endedAt.getTime()) / 1_000);
  }
  expect(waits).toEqual([5, 300, 1_800, 2 * HOUR_S, 5 * HOUR_S, 10 * HOUR_S, 10 * HOUR_S]);
  expect(MAIL_SCHEDULE[0]).toBe(0);
});
