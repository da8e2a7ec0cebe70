import { describe, expect, it } from "vitest";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import { isLookDue, judgeLook, LAPSE_IN_DOUBT, type TargetBefore } from "#control-plane/watching/expiry/sweep/judge.ts";
import type { Look } from "#control-plane/watching/expiry/sweep/look.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse("2026-01-01T00:00:00Z");
const day = (days: number) => new Date(NOW + days * DAY_MS).toISOString();

const facts = (over: Partial<RegistrationFacts>): RegistrationFacts => ({
  registered: true,
  registrar: null,
  expires: day(100),
  status: [],
  source: "rdap",
  ...over,
});
const answer = (over: Partial<RegistrationFacts>): Look => ({ kind: "domain", facts: facts(over), service: null });
const FAILED: Look = {
  kind: "failed",
  reason: "timeout",
  message: "no answer",
  isLimited: false,
  isRefused: true,
  isUnasked: false,
};

/** A domain that is registered for 100 days, by an answer of a day ago. */
const BEFORE: TargetBefore = {
  kind: "domain",
  target: "a.example",
  lookAt: NOW,
  failures: 0,
  error: null,
  errorMessage: null,
  failedSince: null,
  doubtedAt: null,
  lookedAt: NOW - DAY_MS,
  changedAt: null,
  certificate: null,
  registration: facts({}),
};

/** Applies looks one after the other, each at its time. */
function after(looks: readonly (readonly [look: Look, at: number])[], first = BEFORE) {
  const { kind, target } = first;
  return looks.reduce<TargetBefore>((known, [look, at]) => ({ kind, target, ...judgeLook(known, look, 0, at) }), first);
}

const LAPSED: readonly (readonly [string, Partial<RegistrationFacts>])[] = [
  ["has expired", { expires: day(-1) }],
  ["has no holder", { registered: false, expires: null }],
  ["is being deleted", { status: ["pendingDelete"] }],
  ["can only be restored", { status: ["redemption period"] }],
];

describe.each(LAPSED)("a registry that suddenly says that a domain %s", (_what, lapsed) => {
  it("is asked again after an hour, and believed if it says so again", () => {
    const once = after([[answer(lapsed), NOW]]);
    expect(once).toMatchObject({ registration: facts({}), error: LAPSE_IN_DOUBT, lookAt: NOW + HOUR_MS, failures: 0 });
    const twice = after([[answer(lapsed), NOW + HOUR_MS]], once);
    expect(twice).toMatchObject({ registration: facts(lapsed), error: null, doubtedAt: null, lookedAt: NOW + HOUR_MS });
  });

  it("is not believed sooner", () => {
    const soon = after([
      [answer(lapsed), NOW],
      [answer(lapsed), NOW + HOUR_MS / 2],
    ]);
    expect(soon).toMatchObject({ registration: facts({}), error: LAPSE_IN_DOUBT, lookAt: NOW + HOUR_MS });
  });

  it("and takes it back has said nothing", () => {
    const back = after([
      [answer(lapsed), NOW],
      [answer({}), NOW + HOUR_MS],
    ]);
    expect(back).toMatchObject({ registration: facts({}), error: null, doubtedAt: null });
    // The next such answer is in doubt again.
    expect(after([[answer(lapsed), NOW + DAY_MS]], back)).toMatchObject({ error: LAPSE_IN_DOUBT });
  });

  it("and does not answer then is believed as soon as it says so again", () => {
    const late = after([
      [answer(lapsed), NOW],
      [FAILED, NOW + HOUR_MS],
      [answer(lapsed), NOW + 2 * HOUR_MS],
    ]);
    expect(late).toMatchObject({ registration: facts(lapsed), error: null, failures: 0 });
  });
});

describe("a lapse", () => {
  it("at the known end of the registration is believed at once, and so is a first answer", () => {
    const known = { ...BEFORE, registration: facts({ expires: day(0) }) };
    expect(after([[answer({ expires: day(0) }), NOW]], known)).toMatchObject({ error: null, lookedAt: NOW });
    expect(after([[answer({ expires: day(-9) }), NOW]], { ...BEFORE, registration: null })).toMatchObject({
      registration: facts({ expires: day(-9) }),
    });
  });

  it("that is known goes on by other words at once", () => {
    const known = { ...BEFORE, registration: facts({ status: ["redemptionPeriod"] }) };
    expect(after([[answer({ registered: false }), NOW]], known)).toMatchObject({ error: null });
  });

  it("in doubt is asked about at its time only, also if a notice is due before", () => {
    const known = { ...BEFORE, registration: facts({ expires: day(30) }) };
    const doubted = after([[answer({ registered: false }), NOW]], known);
    expect(isLookDue(doubted, NOW + HOUR_MS / 2)).toBe(false);
    expect(isLookDue(doubted, NOW + HOUR_MS)).toBe(true);
  });
});
