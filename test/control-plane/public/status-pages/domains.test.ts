import { describe, expect, it } from "vitest";
import {
  decideClaim,
  decideVerified,
  noteDomain,
  readLook,
  recordOf,
} from "#control-plane/public/status-pages/domains/record.ts";

const NOW = new Date("2026-11-28T12:00:00Z");
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const before = (ms: number) => new Date(NOW.getTime() - ms);
const after = (ms: number) => new Date(NOW.getTime() + ms);
const RECORD = recordOf("status.example.com", "token");

/** A result of the tool dns with these texts, one status for each type of record. */
function answer(statuses: readonly string[], texts: readonly string[] = []) {
  const results = statuses.map((status) => ({ status, records: texts.map((text) => ({ text })) }));
  return { results } as unknown as Parameters<typeof readLook>[0];
}

describe("a look at the record of a domain", () => {
  it.each([
    ["found", answer(["NOERROR"], ["other", "vantage-page=token"])],
    ["missing", answer(["NOERROR"], ["vantage-page=another"])],
    ["missing", answer(["NOERROR"])],
    ["missing", answer(["NXDOMAIN"])],
    ["unknown", answer(["SERVFAIL"])],
    ["unknown", answer(["REFUSED"])],
    ["unknown", answer(["TIMEOUT"])],
    ["unknown", answer([])],
    ["unknown", null],
  ] as const)("is %s after %j", (look, result) => expect(readLook(result, RECORD)).toBe(look));

  it.each([
    ["found", true, 0, { state: "verified", nextAt: after(DAY_MS) }],
    ["found", true, 9 * DAY_MS, { state: "verified", nextAt: after(DAY_MS) }],
    ["found", false, 0, { state: "pending", nextAt: after(10 * MINUTE_MS) }],
    ["found", false, DAY_MS, { state: "pending", nextAt: after(HOUR_MS) }],
    ["missing", false, DAY_MS - 1, { state: "pending", nextAt: after(10 * MINUTE_MS) }],
    ["missing", true, DAY_MS, { state: "failed", nextAt: after(HOUR_MS) }],
    ["unknown", true, DAY_MS, { state: "failed", nextAt: after(HOUR_MS) }],
  ] as const)("that is %s decides about a claim (free: %s, %i ms old)", (look, isFree, age, decided) =>
    expect(decideClaim(look, isFree, before(age), NOW)).toEqual({ ...decided, missingSince: null }),
  );

  it.each([
    ["found", before(DAY_MS), { nextAt: after(DAY_MS), missingSince: null }],
    ["missing", null, { nextAt: after(DAY_MS), missingSince: NOW }],
    ["missing", before(DAY_MS), { nextAt: after(DAY_MS), missingSince: before(DAY_MS) }],
    ["unknown", null, { nextAt: after(HOUR_MS), missingSince: null }],
    ["unknown", before(DAY_MS), { nextAt: after(HOUR_MS), missingSince: before(DAY_MS) }],
  ] as const)("that is %s leaves a domain verified (missing since %s)", (look, since, decided) =>
    expect(decideVerified(look, since, NOW)).toEqual({ state: "verified", ...decided }),
  );
});

describe("the note about a domain", () => {
  it("says since when a record is missing and when the domain can be lost, or that another page has it", () => {
    const domain = "status.example.com";
    const quiet = { domain, domainMissingSince: null, isDomainTaken: false };
    expect([noteDomain(quiet), noteDomain({ ...quiet, domain: null })]).toEqual([null, null]);
    expect(noteDomain({ ...quiet, domainMissingSince: NOW })).toBe(
      "The record of status.example.com has been missing since 2026-11-28T12:00:00.000Z. Publish it again: from " +
        "2026-12-05T12:00:00.000Z on, another page that publishes its own record gets the domain.",
    );
    expect(noteDomain({ ...quiet, isDomainTaken: true })).toContain("Another status page has the domain");
  });
});
