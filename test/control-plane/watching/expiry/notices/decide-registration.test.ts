import { describe, expect, it } from "vitest";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import { decideRegistration } from "#control-plane/watching/expiry/notices/decide-registration.ts";
import type { Memory } from "#control-plane/watching/expiry/notices/memory.ts";

const DAY_MS = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const day = (days: number) => new Date(START + days * DAY_MS).toISOString();

/** What a registry says on one day. */
type Said = Partial<RegistrationFacts>;

/** Asks a registry once a day; `said` gives its answer. Returns the notices as "day type threshold". */
function noticesOf(days: number, said: (day: number) => Said): readonly string[] {
  let memory: Memory = [];
  const notices: string[] = [];
  for (let at = 0; at < days; at += 1) {
    const base = { registered: true, registrar: null, expires: null, status: [], source: "rdap" } as const;
    const made = decideRegistration({ ...base, ...said(at) }, memory, START + at * DAY_MS);
    for (const notice of made.notices) {
      notices.push(`${at} ${notice.type}${notice.type === "domain.expiring" ? ` ${notice.threshold}` : ""}`);
    }
    memory = JSON.parse(JSON.stringify(made.memory)) as Memory;
  }
  return notices;
}

const THRESHOLDS = ["70 domain.expiring 30", "86 domain.expiring 14", "93 domain.expiring 7", "99 domain.expiring 1"];

describe("a registration", () => {
  it("is noticed at its thresholds and once at its end", () => {
    expect(noticesOf(130, () => ({ expires: day(100) }))).toEqual([...THRESHOLDS, "100 domain.expired"]);
  });

  it("that is renewed begins anew", () => {
    const said = (at: number) => ({ expires: at < 95 ? day(100) : day(465) });
    expect(noticesOf(440, said)).toEqual([...THRESHOLDS.slice(0, 3), "435 domain.expiring 30"]);
  });

  it("that lapses is noticed once, whatever the registry calls it and whichever date it states then", () => {
    const words: readonly Said[] = [
      { expires: day(100) },
      { expires: day(465), status: ["redemptionPeriod"] },
      { expires: null, status: ["pendingDelete"] },
      { registered: false },
      { expires: day(465), status: ["redemptionPeriod"] },
    ];
    const said = (at: number) => words[Math.min(4, Math.max(0, Math.floor((at - 100) / 5)))] ?? {};
    expect(noticesOf(150, said)).toEqual([...THRESHOLDS, "100 domain.expired"]);
  });
});

describe("a registry that is wrong for a while", () => {
  it.each<[string, Said]>([
    ["an expiry in the past", { expires: day(-400) }],
    ["no holder", { registered: false }],
    ["a deletion", { expires: day(100), status: ["pendingDelete"] }],
  ])("and says %s suppresses no later notice, and repeats none", (_what, wrong) => {
    for (const [from, to] of [
      [10, 11],
      [10, 60],
      [75, 80],
      [87, 88],
    ] as const) {
      const notices = noticesOf(130, (at) => (at >= from && at < to ? wrong : { expires: day(100) }));
      expect(notices).toEqual([
        ...THRESHOLDS.filter((notice) => Number.parseInt(notice, 10) < from),
        `${from} domain.expired`,
        ...THRESHOLDS.filter((notice) => Number.parseInt(notice, 10) >= from),
        "100 domain.expired",
      ]);
    }
  });

  it("and states a date far in the future does not suppress what follows a month later", () => {
    const said = (at: number) => ({ expires: at === 10 ? day(30_000) : at < 95 ? day(100) : day(465) });
    expect(noticesOf(470, said)).toEqual([
      ...THRESHOLDS.slice(0, 3),
      "435 domain.expiring 30",
      "451 domain.expiring 14",
      "458 domain.expiring 7",
      "464 domain.expiring 1",
      "465 domain.expired",
    ]);
  });

  it("and states an earlier date now and then repeats no notice", () => {
    const said = (at: number) => ({ expires: at % 5 === 0 ? day(97) : day(100) });
    const notices = noticesOf(96, said);
    expect(notices).toHaveLength(new Set(notices.map((notice) => notice.replace(/^\d+ /, ""))).size);
  });
});
