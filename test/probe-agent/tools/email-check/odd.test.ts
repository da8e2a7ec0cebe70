import { afterEach, describe, expect, it } from "vitest";
import {
  createMailSite,
  GOOD,
  pointsOf,
  servePolicy,
  STS_POLICY,
  txt,
  type MailSite,
} from "#test/support/mail-site.ts";
import { idsOf } from "#test/support/findings.ts";
import { endsBy } from "#test/support/deadlines.ts";

const site = await createMailSite();
afterEach(() => site.close());

async function check(...given: Parameters<MailSite["check"]>) {
  return (await site.check(...given)).result;
}

describe("a resolver that fails", () => {
  it("leaves everything unknown and nothing absent", async () => {
    const result = await check("good.test", { behaviours: { "*": { status: "SERVFAIL" } } });
    expect(result).toMatchObject({
      exists: null,
      score: null,
      grade: null,
      spoofable: null,
      spf: { record: null, valid: null, lookups: null, void_lookups: null },
      dmarc: { record: null, org_domain: null, policy_effective: null },
      mta_sts: { dns: { present: null }, policy: null },
      tls_rpt: { valid: null },
      bimi: { valid: null, dmarc_ready: null },
      dkim: { wildcard: null },
      dane: { status: "unknown" },
    });
    for (const { id, status, detail } of result.checks) {
      expect(status, id).toBe("na");
      expect(detail, id).toMatch(/^(Unknown|Terms with a DNS lookup: unknown|No key was found)/);
    }
    expect(result.limitations.length).toBeGreaterThan(10);
    expect(result.limitations.join(" ")).toContain("all lookups failed");
  });

  it("for one part leaves the other parts intact", async () => {
    const behaviours = { "_dmarc.good.test": { status: "SERVFAIL" }, "good.test/MX": { drop: true } } as const;
    const result = await check("good.test", { zones: GOOD, behaviours, policy: servePolicy(STS_POLICY) });
    expect(result).toMatchObject({
      spoofable: null,
      dmarc: { record: null, policy_effective: null },
      mx: { status: "TIMEOUT", null_mx: null },
      mta_sts: { mode: "enforce", mx_match: null },
      tls_rpt: { valid: true },
    });
    expect(pointsOf(result)).toMatchObject({ dmarc_policy: "0/20 na", dkim_key: "15/15 pass", transport: "0/8 na" });
    expect(result.limitations.join(" ")).toMatch(/TXT _dmarc\.good\.test: SERVFAIL/);
  });

  it("by timeout leaves a result within the deadline", async () => {
    const silent = { behaviours: { "*": { drop: true } } } as const;
    const result = await endsBy(3000, () => check("good.test", silent, { timeoutMs: 3000 }));
    expect(result).toMatchObject({ score: null, spoofable: null });
  });
});

describe("odd domains", () => {
  it.each([".", "test", `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.test`])(
    "%s is checked like other domains",
    async (domain) => {
      const result = await check(domain, { zones: { test: { SOA: ["a. b. 1 2 3 4 5"] } } });
      expect(result).toMatchObject({ domain, spf: { record: null }, dmarc: { record: null }, spoofable: true });
    },
  );
});

describe("hostile zones", () => {
  it("with many or long records, control characters or nested includes leave a result within bounds", async () => {
    const many = Array.from({ length: 60 }, (_, index) => txt(`token-${index}=${"x".repeat(150)}`));
    const bomb: Record<string, { TXT: string[] }> = {};
    const grow = (path: string): void => {
      bomb[`n${path}.x.test`] = { TXT: [txt(`v=spf1 include:n${path}0.x.test include:n${path}1.x.test -all`)] };
      if (path.length < 6) ["0", "1"].forEach((bit) => grow(path + bit));
    };
    grow("");
    const zones = {
      "x.test": { TXT: [...many, txt("v=spf1 include:n.x.test -all")] },
      ...bomb,
      "_dmarc.x.test": {
        TXT: [`"v=DMARC1\\; p=reject\\; rua=mailto:\\000\\255@x.test\\;" ${txt("x=".repeat(20_000))}`],
      },
      "_smtp._tls.x.test": { TXT: [txt(`v=TLSRPTv1; rua=${"mailto:a@b.test,".repeat(2000)}`)] },
      "default._bimi.x.test": { TXT: [txt(`v=BIMI1; l=https://${"a".repeat(30_000)}.svg`)] },
      "a.x.test": { CNAME: ["b.x.test."] },
      "b.x.test": { CNAME: ["a.x.test."] },
    };
    const { result, dns } = await site.check("x.test", { zones });
    expect(result.spf.valid).toBe(false);
    expect(idsOf(result.findings)).toContain("spf-valid");
    expect(result.findings.length).toBeLessThanOrEqual(80);
    expect(JSON.stringify(result).length).toBeLessThan(200_000);
    expect(JSON.stringify(result)).not.toMatch(/\\u0000|ÿ/);
    expect(dns.queries.length).toBeLessThan(250);
  });
});
