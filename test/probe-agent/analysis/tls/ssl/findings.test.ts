import { describe, expect, it } from "vitest";
import { unredacted } from "#shared/text/redact.ts";
import { TRUST_ERRORS, type TrustError } from "#probe-agent/analysis/tls/certificate/policy.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import { SSL_ADVICE } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { expiryStage, longestLifetimeDays } from "#probe-agent/analysis/tls/ssl/findings.ts";
import { decideTrust } from "#probe-agent/analysis/tls/ssl/trust.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";

const HOST = "shop.example";
const NOW = new Date();
const pki = await createPki();
const issued = await pki.issue({
  dns: ["a.example", "b.example", "c.example", "d.example"],
  notBefore: daysFromNow(-90),
  notAfter: daysFromNow(-3.5),
});
const leaf = parsed(issued);
const verification = verifyServerChain({
  leaf: issued.der,
  intermediates: [pki.intermediate.der],
  roots: [pki.root.der],
  host: HOST,
  now: NOW,
});

describe("the findings of ssl", () => {
  it("have an id in kebab-case, say what to change, and name a page that describes it", () => {
    for (const [id, { how, reference }] of Object.entries(SSL_ADVICE)) {
      expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(how, id).toMatch(/^[A-Z].{15,}/);
      expect(reference, id).toMatch(/^https:\/\//);
    }
  });

  it("do not reuse a trust_error as the id of a finding that does not decide trust", () => {
    for (const error of TRUST_ERRORS) expect(Object.keys(SSL_ADVICE)).not.toContain(error.replaceAll("_", "-"));
  });

  it.each(TRUST_ERRORS)("state the cause of %s as critical, and what to change", (error: TrustError) => {
    const { findings } = decideTrust({
      leaf,
      host: HOST,
      verification: { ...verification, errors: [error] },
      revocation: null,
      now: NOW,
      redact: unredacted,
    });
    expect(findings).toEqual([
      {
        id: error.replaceAll("_", "-"),
        severity: "critical",
        message: expect.stringMatching(/^[A-Z].{20,}\.$/) as string,
        how: expect.stringMatching(/^[A-Z].{20,}\.$/) as string,
        reference: expect.stringMatching(/^https:\/\//) as string,
        where: null,
      },
    ]);
  });

  it("name the values seen", () => {
    const { trusted, error, findings } = decideTrust({
      leaf,
      host: HOST,
      verification,
      revocation: null,
      now: NOW,
      redact: unredacted,
    });
    expect([trusted, error]).toEqual([false, "expired"]);
    expect(findings.map(({ message }) => message)).toEqual([
      `The certificate expired on ${leaf.notAfter.toISOString().slice(0, 10)}, 3 days ago.`,
      `The certificate is for a.example, b.example, c.example and 1 more, not for ${HOST}.`,
    ]);
  });
});

describe("the expiry stage of a certificate", () => {
  it.each([
    [-1, 90, "expired"],
    [0, 90, "urgent"],
    [7, 90, "urgent"],
    [8, 90, "due"],
    [30, 90, "due"],
    [31, 90, "far"],
    [2, 6, "due"],
    [3, 6, "far"],
  ] as const)("with %i of %i days left is %s", (left, lifetime, stage) => {
    expect(expiryStage(left, lifetime)).toBe(stage);
  });
});

describe("the longest lifetime of a public certificate", () => {
  it.each([
    ["2017-12-31", 1_187],
    ["2018-03-01", 825],
    ["2020-09-01", 398],
    ["2026-03-14", 398],
    ["2026-03-15", 200],
    ["2027-03-15", 100],
    ["2029-03-15", 47],
  ])("of %s is %i days", (day, days) => {
    expect(longestLifetimeDays(new Date(day))).toBe(days);
  });
});
