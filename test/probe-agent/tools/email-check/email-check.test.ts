import { afterEach, describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { emailCheck } from "#probe-agent/tools/email-check/email-check.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { daysFromNow } from "#test/servers/pki.ts";
import { growDaneTree } from "#test/support/dane-tree.ts";
import {
  createMailSite,
  GOOD,
  pointsOf,
  servePolicy,
  STS_POLICY,
  txt,
  type MailSite,
} from "#test/support/mail-site.ts";
import { dnsPort, jobLimits, netOf } from "#test/support/net.ts";
import { messagesOf } from "#test/support/findings.ts";
import { endsBy } from "#test/support/deadlines.ts";

const STS_PATH = "/.well-known/mta-sts.txt";

const site = await createMailSite();
afterEach(() => site.close());

async function check(...given: Parameters<MailSite["check"]>) {
  return (await site.check(...given)).result;
}

describe("a careful domain", () => {
  it("gets every point and cannot be spoofed", async () => {
    const { result, web } = await site.check("good.test", { zones: GOOD, policy: servePolicy(STS_POLICY) });
    expect(pointsOf(result)).toEqual({
      spf_valid: "15/15 pass",
      spf_all: "10/10 pass",
      spf_lookups: "5/5 pass",
      dmarc_present: "10/10 pass",
      dmarc_policy: "20/20 pass",
      dmarc_subdomains: "5/5 pass",
      dmarc_reports: "5/5 pass",
      dkim_key: "15/15 pass",
      transport: "8/8 pass",
      tls_rpt: "2/2 pass",
      reverse_names: "5/5 pass",
    });
    expect(result).toMatchObject({
      domain: "good.test",
      exists: true,
      score: 100,
      grade: "A+",
      spoofable: false,
      spoofable_reason: "Mail that fails DMARC is rejected.",
      spf: { record: "v=spf1 mx -all", valid: true, lookups: 1, void_lookups: 0, all_qualifier: "fail" },
      dmarc: {
        found_at: "good.test",
        org_domain: "good.test",
        p: "reject",
        policy_effective: "reject",
        rua: ["mailto:d@good.test", "mailto:r@reports.test"],
        external_reporting_authorised: [{ destination: "reports.test", authorised: true }],
      },
      dkim: { selectors: [{ selector: "google", valid: true, key: { type: "rsa", bits: 2048 } }], wildcard: false },
      mx: { null_mx: false, records: [{ host: "mail.good.test" }] },
      mta_sts: {
        dns: { present: true, id: "20260101" },
        policy: { valid: true, version: "STSv1", mx: ["mail.good.test"], error: null },
        mode: "enforce",
        max_age_s: 2_419_200,
        mx_match: true,
      },
      tls_rpt: { valid: true },
      bimi: { valid: true, dmarc_ready: true },
      dane: { status: "none", hosts_secure: 0, hosts_total: 1, mx_secure: null },
      source: ["dns", "mta-sts"],
    });
    expect(result.findings.map(({ id, severity }) => `${severity} ${id}`)).toEqual(["info single-host"]);
    expect(web?.requests.map(({ path }) => path)).toEqual(["/.well-known/mta-sts.txt"]);
  });

  it("causes each DNS lookup only once", async () => {
    const { dns } = await site.check("good.test", { zones: GOOD, policy: servePolicy(STS_POLICY) });
    const asked = dns.queries.map(({ name, type }) => `${name.toLowerCase()} ${type}`);
    const own = asked.filter((question) => / (?:TXT|MX)$/.test(question) && !question.includes("origin"));
    expect(own.toSorted()).toEqual([...new Set(own)].toSorted());
    expect(asked.length).toBeLessThan(90);
  });
});

describe("a bare domain", () => {
  it("can be spoofed and fails", async () => {
    const zones = { "bare.test": { MX: ["10 mail.bare.test."] }, "mail.bare.test": { A: ["8.8.8.8"] } };
    const result = await check("bare.test", { zones });
    expect(result).toMatchObject({
      score: 0,
      grade: "F",
      spoofable: true,
      spf: { record: null, valid: false, lookups: null },
      dmarc: { record: null, found_at: null, policy_effective: null, org_domain: "bare.test" },
      mta_sts: { dns: { present: false }, policy: null, mode: null },
    });
    expect(pointsOf(result)).toMatchObject({ dkim_key: "0/15 na", reverse_names: "0/5 fail", spf_lookups: "0/5 fail" });
    expect(result.findings.map(({ id, severity, where }) => [severity, id, where])).toEqual([
      ["critical", "dmarc-present", "dmarc"],
      ["warning", "spf-valid", "spf"],
      ["warning", "transport", "mta_sts"],
      ["warning", "reverse-names", "mx"],
      ["info", "tls-rpt", "tls_rpt"],
      ["info", "single-host", null],
      ["info", "no-ipv6", null],
    ]);
    const how = Object.fromEntries(result.findings.map((finding) => [finding.id, finding.how]));
    expect(how["dmarc-present"]).toBe(
      'Publish this TXT record at _dmarc.bare.test: "v=DMARC1; p=quarantine; rua=mailto:dmarc-reports@bare.test"',
    );
    expect(how["spf-valid"]).toContain('Publish this TXT record at bare.test: "v=spf1 mx ~all"');
    expect(how["transport"]).toMatch(/at _mta-sts\.bare\.test: "v=STSv1; id=\d{14}"/);
    expect(how["transport"]).toContain("mode: testing; mx: mail.bare.test; max_age: 604800");
    expect(how["tls-rpt"]).toContain('_smtp._tls.bare.test: "v=TLSRPTv1; rua=mailto:tls-reports@bare.test"');
    expect(messagesOf(result.findings)).toContain("8.8.8.8 of mail.bare.test (none)");
  });

  it("loses no points for a reverse name whose lookup fails", async () => {
    const zones = { "bare.test": { MX: ["10 mail.bare.test."] }, "mail.bare.test": { A: ["8.8.8.8"] } };
    const behaviours = { "8.8.8.8.in-addr.arpa": { status: "SERVFAIL" } } as const;
    const result = await check("bare.test", { zones, behaviours });
    expect(pointsOf(result)).toMatchObject({ reverse_names: "0/5 na" });
    expect(result.mx.records[0]?.addresses).toMatchObject([{ ptr: null, has_ptr: null, fcrdns: null }]);
    expect(messagesOf(result.findings)).not.toMatch(/reverse name/i);
  });

  it("that accepts no mail is not scored for incoming mail", async () => {
    const zones = {
      "none.test": { MX: ["0 ."], TXT: [txt("v=spf1 -all")] },
      "_dmarc.none.test": { TXT: [txt("v=DMARC1; p=reject; rua=mailto:d@none.test")] },
      "*._domainkey.none.test": { TXT: [txt("v=DKIM1; p=")] },
    };
    const result = await check("none.test", { zones });
    expect(result).toMatchObject({
      score: 100,
      grade: "A+",
      spoofable: false,
      dkim: { wildcard: true, selectors: [] },
    });
    expect(pointsOf(result)).toMatchObject({ transport: "0/8 na", tls_rpt: "0/2 na", reverse_names: "0/5 na" });
  });

  it("that does not exist is reported as such", async () => {
    const result = await check("absent.test", { zones: { test: { SOA: ["a. b. 1 2 3 4 5"] } } });
    expect(result).toMatchObject({ exists: false, mx: { status: "NXDOMAIN" }, spoofable: true });
  });
});

describe("DMARC", () => {
  const at = (name: string, text: string) => ({ [`_dmarc.${name}`]: { TXT: [txt(text)] } });

  it("of a subdomain is sp of the organizational domain, or np if the subdomain does not exist", async () => {
    const zones = {
      "example.test": { A: ["8.8.8.8"] },
      "sub.example.test": { A: ["8.8.8.8"] },
      ...at("example.test", "v=DMARC1; p=reject; sp=quarantine; np=none; rua=mailto:d@example.test"),
    };
    const sub = await check("sub.example.test", { zones });
    expect(sub.dmarc).toMatchObject({
      found_at: "example.test",
      org_domain: "example.test",
      policy_effective: "quarantine",
    });
    expect(sub.findings).toContainEqual(expect.objectContaining({ id: "dmarc-inherited", where: "example.test" }));
    const weaker = sub.findings.find(({ id }) => id === "dmarc-subdomains");
    expect(weaker?.message).toContain("reject for the domain, quarantine for its subdomains and none for names");
    expect(weaker?.how).toBe(
      'Publish this TXT record at _dmarc.example.test: "v=DMARC1; p=reject; rua=mailto:d@example.test"',
    );
    const gone = await check("gone.example.test", { zones });
    expect(gone).toMatchObject({ exists: false, dmarc: { policy_effective: "none" }, spoofable: true });
  });

  it("with a policy that is none does not apply", async () => {
    const result = await check("x.test", {
      zones: { "x.test": { A: ["8.8.8.8"] }, ...at("x.test", "v=DMARC1; p=bogus") },
    });
    expect(result.spoofable_reason).toContain("No DMARC record applies");
  });

  it("reports repeated, misplaced and misspelt records", async () => {
    const zones = {
      "x.test": { TXT: [txt("v=DMARC1; p=reject")] },
      "_dmarc.x.test": { TXT: [txt("v=DMARC1; p=none"), txt("v=DMARC1; p=reject"), txt("v=dmarc1; p=reject")] },
    };
    const { dmarc, findings } = await check("x.test", { zones });
    expect(dmarc.record).toBeNull();
    expect(findings.filter(({ where }) => where === "x.test").map(({ id, severity }) => [id, severity])).toEqual([
      ["dmarc-several-records", "critical"],
      ["dmarc-near-record", "critical"],
      ["dmarc-misplaced", "warning"],
    ]);
    expect(messagesOf(findings)).toContain('"v=dmarc1; p=reject" is not a DMARC record');
  });

  it("checks the consent of report receivers in other organizations (RFC 9990 section 4)", async () => {
    const zones = {
      "x.test": { A: ["8.8.8.8"] },
      ...at(
        "x.test",
        "v=DMARC1; p=reject; rua=mailto:a@x.test,mailto:b@yes.test,mailto:c@no.test,mailto:d@dead.test,mailto:e@sub.x.test",
      ),
      "*._report._dmarc.yes.test": { TXT: [txt("v=DMARC1")] },
      "no.test": { A: ["8.8.8.8"] },
    };
    const { dmarc, findings } = await check("x.test", {
      zones,
      behaviours: { "x.test._report._dmarc.dead.test": { status: "SERVFAIL" } },
    });
    expect(dmarc.external_reporting_authorised).toEqual([
      { destination: "yes.test", authorised: true },
      { destination: "no.test", authorised: false },
      { destination: "dead.test", authorised: null },
    ]);
    const refused = findings.find(({ id }) => id === "dmarc-report-not-authorised");
    expect(refused).toMatchObject({ severity: "info", where: "no.test" });
    expect(refused?.how).toContain('TXT record at x.test._report._dmarc.no.test: "v=DMARC1"');
  });
});

describe("MTA-STS (RFC 8461 section 3.3)", () => {
  it.each<[string, Parameters<MailSite["check"]>[1], string]>([
    ["a closed port", {}, "connect"],
    [
      "a redirect, which is not followed",
      {
        policy: (request, response, seen) => {
          if (seen.path === "/policy") return servePolicy(STS_POLICY)(request, response, { ...seen, path: STS_PATH });
          response.writeHead(302, { location: "/policy" }).end();
          return true;
        },
      },
      "do not follow redirects",
    ],
    ["no such file", { policy: (_q, r) => (r.writeHead(404).end("no"), true) }, "status 404"],
    ["more than 64 KB", { policy: servePolicy(STS_POLICY + "x: y\n".repeat(20_000)) }, "larger than 64 KB"],
    [
      "a certificate for another name",
      { policy: servePolicy(STS_POLICY), issue: { dns: ["www.good.test"] } },
      "hostname_mismatch",
    ],
    [
      "an expired certificate",
      {
        policy: servePolicy(STS_POLICY),
        issue: { dns: ["mta-sts.good.test"], notAfter: daysFromNow(-1), notBefore: daysFromNow(-90) },
      },
      "expired",
    ],
    [
      "a self-signed certificate",
      { policy: servePolicy(STS_POLICY), issue: { dns: ["mta-sts.good.test"], issuer: null } },
      "certificate is not valid",
    ],
  ])("with %s has no policy", async (_what, server, error) => {
    const { mta_sts: sts, checks, findings } = await check("good.test", { zones: GOOD, ...server });
    expect(sts).toMatchObject({ mode: null, max_age_s: null, mx_match: null, policy: { valid: false } });
    expect(sts.policy?.error).toContain(error);
    expect(findings).toContainEqual(
      expect.objectContaining({ id: "mta-sts-policy-unreachable", severity: "warning", where: "mta_sts" }),
    );
    expect(checks.find(({ id }) => id === "transport")?.status).toBe("fail");
  });

  it("reports hosts that the policy does not name, and other faults", async () => {
    const policy = servePolicy("version: STSv1\nmode: enforce\nmx: *.good.test.invalid\nmax_age: 60\n", "text/html");
    const { mta_sts: sts, checks, findings } = await check("good.test", { zones: GOOD, policy });
    expect(sts).toMatchObject({ mode: "enforce", mx_match: false });
    const found = findings.filter(({ where }) => where === "mta_sts");
    expect(found.map(({ id, severity }) => [id, severity])).toEqual([
      ["mta-sts-mx-mismatch", "critical"],
      ["transport", "warning"],
      ["mta-sts-max-age-short", "info"],
      ["mta-sts-content-type", "info"],
    ]);
    expect(found[0]?.message).toContain("does not name these mail hosts: mail.good.test");
    expect(found[0]?.how).toContain("mx: mail.good.test");
    expect(checks.find(({ id }) => id === "transport")?.score).toBe(0);
  });

  it("is not fetched if DNS announces no policy", async () => {
    const { ["_mta-sts.good.test"]: _announcement, ...zones } = GOOD;
    const { result, web } = await site.check("good.test", { zones, policy: servePolicy(STS_POLICY) });
    expect(result.mta_sts.policy).toBeNull();
    expect(web?.requests).toEqual([]);
  });

  it("from a slow server does not delay the result beyond the deadline", async () => {
    const slow = { zones: GOOD, policy: () => true };
    const result = await endsBy(4000, () => check("good.test", slow, { timeoutMs: 4000 }));
    expect(result.mta_sts.policy?.error).toContain("timeout");
  });
});

describe("BIMI", () => {
  it.each([
    ["v=DMARC1; p=reject", "v=BIMI1; l=https://x.test/a.svg", true, false],
    ["v=DMARC1; p=none", "v=BIMI1; l=https://x.test/a.svg", false, true],
    ["v=DMARC1; p=reject; sp=none", "v=BIMI1; l=https://x.test/a.svg", false, true],
    ["v=DMARC1; p=reject; pct=50", "v=BIMI1; l=https://x.test/a.svg", false, true],
    ["v=DMARC1; p=none", "v=BIMI1; l=; a=", false, false],
  ])("with %s and %s is ready: %s, a finding: %s", async (dmarc, record, ready, isFound) => {
    const zones = {
      "x.test": { A: ["8.8.8.8"] },
      "_dmarc.x.test": { TXT: [txt(dmarc)] },
      "default._bimi.x.test": { TXT: [txt(record)] },
    };
    const { bimi, findings } = await check("x.test", { zones });
    expect(bimi.dmarc_ready).toBe(ready);
    const found = findings.filter(({ id }) => id === "bimi-dmarc-not-enforced");
    expect(found.map(({ severity, where }) => [severity, where])).toEqual(isFound ? [["info", "bimi"]] : []);
  });
});

describe("DANE", () => {
  it("of all hosts replaces MTA-STS", async () => {
    const tree = growDaneTree();
    const server = await startDnsServer({ answer: (name, type) => tree.answer(name, type) });
    const limits = jobLimits(20_000);
    const net = netOf({ dns: dnsPort([server.address], { limits }), trustAnchors: tree.anchors }, limits);
    for (const [domain, dane] of [
      ["example", { status: "all", hosts_secure: 1, hosts_total: 1, mx_secure: true }],
      ["plain", { status: "none", hosts_secure: 0, hosts_total: 1, mx_secure: null }],
      // RFC 7672 section 2.2.1: an attacker who forges the MX records can name a host without TLSA records.
      ["borrower", { status: "none", hosts_secure: 1, hosts_total: 1, mx_secure: false }],
    ] as const) {
      const outcome = await emailCheck.run(net, { domain });
      if (outcome.status !== "ok") throw new Error(outcome.status);
      expect(Array.from(Value.Errors(emailCheck.contract.result, outcome.data))).toEqual([]);
      expect(outcome.data.dane).toEqual(dane);
      expect(pointsOf(outcome.data)["transport"]).toBe(domain === "example" ? "8/8 pass" : "0/8 fail");
    }
    await server.close();
  });
});
