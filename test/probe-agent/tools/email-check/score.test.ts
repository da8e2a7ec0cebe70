import { describe, expect, it } from "vitest";
import { assessSpoofing, scoreMail, type MailFacts } from "#probe-agent/tools/email-check/score.ts";

/** Facts of a domain without faults. The tests change single facts. */
const GOOD: MailFacts = {
  spf: {
    record: "v=spf1 -all",
    state: "present",
    valid: true,
    lookups: 0,
    void_lookups: 0,
    mechanisms: [],
    all_qualifier: "fail",
    passes_all: false,
    includes: [],
    ip4_count: 0,
    errors: [],
    warnings: [],
    unknowns: [],
  },
  dmarc: {
    record: "v=DMARC1; p=reject; rua=mailto:d@example.com",
    found_at: "example.com",
    org_domain: "example.com",
    p: "reject",
    sp: null,
    np: null,
    adkim: "r",
    aspf: "r",
    rua: ["mailto:d@example.com"],
    ruf: [],
    fo: "0",
    t: "n",
    psd: "u",
    pct: null,
    policy_effective: "reject",
    external_reporting_authorised: [],
  },
  dmarcUncertain: false,
  policies: { own: "reject", sub: "reject", absent: "reject" },
  selectors: [],
  mx: { status: "NOERROR", records: [], null_mx: true, implicit_mx: false, provider: null, ipv6: null },
  mtaSts: {
    dns: { record: null, present: false, id: null },
    policy: null,
    mode: null,
    max_age_s: null,
    mx_match: null,
  },
  tlsRpt: { record: null, valid: false, rua: [] },
  dane: { status: "none", hosts_secure: 0, hosts_total: 0, mx_secure: null },
};

const withDmarc = (dmarc: Partial<MailFacts["dmarc"]>): MailFacts => ({ ...GOOD, dmarc: { ...GOOD.dmarc, ...dmarc } });
const withSpf = (spf: Partial<MailFacts["spf"]>): MailFacts => ({ ...GOOD, spf: { ...GOOD.spf, ...spf } });

function pointsOf(facts: MailFacts): Record<string, string> {
  return Object.fromEntries(
    scoreMail(facts).checks.map(({ id, score, max, status }) => [id, `${score}/${max} ${status}`]),
  );
}

describe("the score", () => {
  it("has 100 points: SPF 30, DMARC 40, DKIM 15, MX and TLS 15", () => {
    const { checks, score, grade } = scoreMail(GOOD);
    const most = Object.groupBy(checks, ({ category }) => category);
    const sums = Object.entries(most).map(([category, all]) => [category, all?.reduce((sum, { max }) => sum + max, 0)]);
    expect(Object.fromEntries(sums)).toEqual({ SPF: 30, DMARC: 40, DKIM: 15, "MX/TLS": 15 });
    // 70 of the 70 points that apply.
    expect([score, grade]).toEqual([100, "A+"]);
  });

  it.each([
    ["none", 4],
    ["quarantine", 14],
    ["reject", 20],
  ] as const)("gives p=%s %d points", (policy, points) => {
    expect(pointsOf(withDmarc({ policy_effective: policy }))["dmarc_policy"]).toMatch(new RegExp(`^${points}/20`));
  });

  it("deducts points for weaker subdomains and for reports without a usable address", () => {
    const weak = { ...GOOD, policies: { own: "reject", sub: "none", absent: "reject" } } as const;
    expect(pointsOf(weak)["dmarc_subdomains"]).toBe("0/5 fail");
    const refusing = [{ destination: "example.com", authorised: false }];
    expect(pointsOf(withDmarc({ external_reporting_authorised: refusing }))["dmarc_reports"]).toBe("0/5 fail");
    const subject = withDmarc({ external_reporting_authorised: refusing, rua: ["mailto:d@example.com?subject=dmarc"] });
    expect(pointsOf(subject)["dmarc_reports"]).toBe("0/5 fail");
    expect(pointsOf(withDmarc({ rua: ["mailto:nobody"] }))["dmarc_reports"]).toBe("0/5 fail");
    expect(pointsOf(withDmarc({ rua: ["mailto:nobody", "mailto:d@example.com"] }))["dmarc_reports"]).toBe("5/5 pass");
  });

  it.each<[Partial<MailFacts["spf"]>, string, string]>([
    [{ all_qualifier: "softfail" }, "spf_all", "10/10 pass"],
    [{ all_qualifier: "neutral" }, "spf_all", "0/10 fail"],
    [{ all_qualifier: null }, "spf_all", "0/10 fail"],
    [{ passes_all: true }, "spf_all", "0/10 fail"],
    [{ lookups: 11, valid: false }, "spf_lookups", "0/5 fail"],
    [{ lookups: null, valid: null }, "spf_lookups", "0/5 na"],
    [{ lookups: null, valid: null }, "spf_valid", "0/15 na"],
    [{ state: "unknown", valid: null, lookups: null, all_qualifier: null }, "spf_all", "0/10 na"],
  ])("with %j: %s %s", (spf, id, points) => {
    expect(pointsOf(withSpf(spf))[id]).toBe(points);
  });

  it("is null if nothing is known", () => {
    const blind: MailFacts = {
      ...withSpf({ state: "unknown", valid: null, lookups: null }),
      dmarcUncertain: true,
      mx: { ...GOOD.mx, null_mx: null },
    };
    expect(scoreMail(blind)).toMatchObject({ score: null, grade: null });
    expect(assessSpoofing(blind).spoofable).toBeNull();
  });

  it.each([
    [{ type: "rsa", bits: 2048, encoding: "spki" }, true, "15/15 pass"],
    [{ type: "ed25519", bits: 256, encoding: "raw" }, true, "15/15 pass"],
    [{ type: "rsa", bits: 1024, encoding: "spki" }, true, "0/15 fail"],
    [{ type: "rsa", bits: 4096, encoding: "spki" }, false, "0/15 fail"],
  ] as const)("of a key %j, valid %s: %s", (key, valid, points) => {
    const row = {
      selector: "s",
      used_by: null,
      valid,
      key,
      revoked: false,
      testing: false,
      cname_target: null,
      invalid_reason: null,
    };
    expect(pointsOf({ ...GOOD, selectors: [row] })["dkim_key"]).toBe(points);
  });
});

describe("spoofing", () => {
  it("has a reason", () => {
    expect(assessSpoofing(GOOD)).toEqual({ spoofable: false, reason: "Mail that fails DMARC is rejected." });
    expect(assessSpoofing(withDmarc({ policy_effective: null }))).toMatchObject({ spoofable: true });
    expect(assessSpoofing(withDmarc({ policy_effective: null })).reason).toContain("SPF (-all) alone");
    expect(assessSpoofing(withSpf({ passes_all: true })).reason).toContain("SPF passes every sender");
    // A record with permerror passes no sender.
    expect(assessSpoofing(withSpf({ passes_all: true, valid: false })).spoofable).toBe(false);
  });

  it.each<[Partial<MailFacts["dmarc"]>, MailFacts["policies"], boolean, string]>([
    [{ policy_effective: "none" }, GOOD.policies, true, "The DMARC policy in effect is none: mail that fails"],
    [{ policy_effective: "quarantine" }, GOOD.policies, false, "is quarantined."],
    [{ policy_effective: "quarantine", t: "y" }, GOOD.policies, false, "quarantined (weakened by t=y)."],
    [{ policy_effective: "none", t: "y" }, GOOD.policies, true, "none (weakened by t=y): mail that fails"],
    [
      {},
      { own: "reject", sub: "none", absent: "none" },
      false,
      "subdomains can be spoofed because their policy is none",
    ],
    [{ pct: 10 }, GOOD.policies, false, "receivers that follow RFC 7489 do so for 10 % of that mail"],
    [{ pct: 100 }, GOOD.policies, false, "Mail that fails DMARC is rejected."],
    [{ policy_effective: null }, null, true, "No DMARC record applies"],
  ])("with %j and the policies %j is possible: %s", (dmarc, policies, isPossible, reason) => {
    const verdict = assessSpoofing({ ...withDmarc(dmarc), policies });
    expect(verdict.spoofable).toBe(isPossible);
    expect(verdict.reason).toContain(reason);
  });
});
