import { describe, expect, it } from "vitest";
import type { Finding } from "#shared/contracts/findings.ts";
import { DMARC_ADVICE } from "#probe-agent/tools/email-check/dmarc-advice.ts";
import { parseDmarc } from "#probe-agent/tools/email-check/dmarc-record.ts";
import { readBimi } from "#probe-agent/analysis/mail/bimi.ts";
import { parseMtaStsPolicy, readMtaStsRecord } from "#probe-agent/analysis/mail/mta-sts.ts";
import { BIMI_ADVICE, MTA_STS_ADVICE, TLS_RPT_ADVICE } from "#probe-agent/analysis/mail/policy-advice.ts";
import { readTlsRpt } from "#probe-agent/analysis/mail/tls-rpt.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import { SPF_ADVICE } from "#probe-agent/analysis/mail/spf/advice.ts";
import { reportSpf } from "#probe-agent/tools/email-check/spf-report.ts";
import { walkSpf } from "#probe-agent/tools/email-check/spf-tree.ts";
import { zoneResolver } from "#test/support/spf.ts";

const CONTEXT = { domain: "example.com", hosts: ["mx1.example.com"], now: new Date("2026-11-22T20:00:00Z") };

/** Returns the fields of the first finding with this id that the tables compare. */
function firstOf(findings: readonly Finding[], id: string) {
  const found = findings.find((finding) => finding.id === id);
  return { severity: found?.severity, how: found?.how ?? null, sentence: /[.;]$/.test(found?.message ?? "") };
}

/** Returns the expected fields of a finding whose `how` contains the text. */
function expected(severity: string, how: string) {
  return { severity, how: expect.stringContaining(how) as string, sentence: true };
}

describe("findings on a DMARC record give the record to publish", () => {
  const ABOUT = "v=DMARC1; p=reject; rua=mailto:a@example.com";
  it.each([
    [`${ABOUT}; adkim=x`, "dmarc-bad-value", "info", "adkim and aspf r or s"],
    [
      "v=DMARC1; p=block; rua=mailto:a@example.com",
      "dmarc-bad-policy",
      "critical",
      '"v=DMARC1; p=quarantine; rua=mailto:a@example.com"',
    ],
    [
      "v=DMARC1; rua=mailto:a@example.com",
      "dmarc-policy-missing",
      "warning",
      '"v=DMARC1; p=quarantine; rua=mailto:a@example.com"',
    ],
    [
      "v=DMARC1; sp=none; p=reject; rua=mailto:a@example.com",
      "dmarc-policy-not-second",
      "warning",
      '"v=DMARC1; p=reject; sp=none; rua=mailto:a@example.com"',
    ],
    [`${ABOUT}; t=y`, "dmarc-testing", "warning", `"${ABOUT}"`],
    [`${ABOUT}; pct=25`, "dmarc-pct", "info", `"${ABOUT}"`],
    [`${ABOUT}; fo=1`, "dmarc-fo-without-ruf", "info", `"${ABOUT}"`],
    ["v=DMARC1; p=reject", "dmarc-without-rua", "info", '"v=DMARC1; p=reject; rua=mailto:dmarc-reports@example.com"'],
    [`${ABOUT}; rf=afrf`, "dmarc-tag-removed", "info", `"${ABOUT}"`],
    [`${ABOUT}; p=none`, "dmarc-tag-repeated", "warning", `"${ABOUT}"`],
    [`${ABOUT}; x=1`, "dmarc-tag-unknown", "info", "Remove the tag"],
    [`${ABOUT}; hello`, "dmarc-tag-malformed", "info", `"${ABOUT}"`],
    [
      "v=DMARC1; p=reject; rua=https://example.com/",
      "dmarc-report-address",
      "info",
      "rua=mailto:dmarc-reports@example.com",
    ],
    [
      "v=DMARC1; p=reject; rua=mailto:a@example.com!10m",
      "dmarc-report-size-limit",
      "info",
      "Remove the exclamation mark",
    ],
  ])("%s: %s, %s", (record, id, severity, how) => {
    const context = { domain: "example.com", foundAt: "example.com", record };
    expect(firstOf(adviseOn(DMARC_ADVICE, parseDmarc(record).issues, context), id)).toEqual(expected(severity, how));
  });
});

describe("findings on an SPF record", () => {
  const ZONE = {
    "loop.example.com": { TXT: ["v=spf1 include:loop.example.com -all"] },
    "mx11.example.com": { MX: Array.from({ length: 11 }, (_, n) => `10 h${n}.example.com`) },
    "a.example.com": { A: ["192.0.2.1"] },
  };
  it.each([
    ["v=spf1 moo -all", "spf-syntax", "critical", "Correct the term in the SPF record of example.com"],
    [["v=spf1 -all", "v=spf1 ~all"], "spf-several-records", "critical", "into one TXT record"],
    ["v=spf1 include:loop.example.com -all", "spf-loop", "critical", "refers back to loop.example.com"],
    [
      "v=spf1 include:gone.example.com -all",
      "spf-include-missing",
      "critical",
      "gone.example.com from the record of example.com",
    ],
    ["v=spf1 mx:mx11.example.com -all", "spf-too-many-mx-hosts", "critical", "Replace mx"],
    [`v=spf1${" a:a.example.com".repeat(11)} -all`, "spf-too-many-lookups", "critical", "10 or fewer terms"],
    [
      "v=spf1 a:x1.example.com a:x2.example.com a:x3.example.com -all",
      "spf-too-many-void-lookups",
      "critical",
      "Remove the terms",
    ],
    ["spf1 mx -all", "spf-near-record", "warning", 'at example.com: "v=spf1 include:_spf.google.com ~all"'],
    ["v=spf1 ip4:192.0.2.1 +all", "spf-passes-everyone", "critical", 'at example.com: "v=spf1 ip4:192.0.2.1 ~all"'],
    ["v=spf1 ip4:192.0.2.1 ?all", "spf-neutral-all", "warning", '"v=spf1 ip4:192.0.2.1 ~all"'],
    ["v=spf1 ip4:192.0.2.1", "spf-without-all", "warning", '"v=spf1 ip4:192.0.2.1 ~all"'],
    ["v=spf1 -all ip4:192.0.2.1", "spf-terms-unreachable", "warning", "Move all to the end"],
    ["v=spf1 -all redirect=x.example.com", "spf-redirect-ignored", "warning", "Remove either all or redirect="],
    ["v=spf1 ptr -all", "spf-ptr", "warning", "Replace ptr"],
    ["v=spf1 exists:%{i}.example.com -all", "spf-macro-not-followed", "info", null],
    ["v=spf1 foo=bar -all", "spf-unknown-modifier", "warning", "Remove the term"],
    ["v=spf1 ip4:10.0.0.0/8 -all", "spf-large-block", "warning", "only the address blocks"],
    [`v=spf1 ${"ip4:192.0.2.1 ".repeat(40)}-all`, "spf-record-long", "warning", "include:_spf1.example.com"],
    ["v=spf1 a:x1.example.com -all", "spf-void-term", "warning", "Remove the term"],
  ])("%j: %s, %s", async (given, id, severity, how) => {
    const texts = [given].flat();
    const zone = { ...ZONE, "example.com": { TXT: texts } };
    const { errors, warnings } = reportSpf(await walkSpf("example.com", zoneResolver(zone)));
    const record = texts[0]?.startsWith("v=spf1") === true ? texts[0] : null;
    const context = { domain: "example.com", record, provider: "Google Workspace", nullMx: false };
    const found = adviseOn(SPF_ADVICE, [...errors, ...warnings], context);
    if (how === null) expect(found).toContainEqual(expect.objectContaining({ id, severity, how: null }));
    else expect(firstOf(found, id)).toEqual(expected(severity, how));
  });
});

describe("findings on MTA-STS, TLS reports and BIMI", () => {
  const POLICY = "version: STSv1\nmode: enforce\nmx: a.example\nmax_age: 2419200";
  it.each([
    [
      readMtaStsRecord(["v=STS1; id=1"]).issues,
      "mta-sts-record-malformed",
      "warning",
      '_mta-sts.example.com: "v=STSv1; id=20261122200000"',
    ],
    [readMtaStsRecord(["v=STSv1; id=a-b"]).issues, "mta-sts-record-malformed", "warning", "id=20261122200000"],
    [
      readMtaStsRecord(["v=STSv1; id=1", "v=STSv1; id=2"]).issues,
      "mta-sts-several-records",
      "warning",
      "Keep one TXT record",
    ],
    [parseMtaStsPolicy("mode: none").issues, "mta-sts-policy-malformed", "warning", "mx: mx1.example.com"],
    [parseMtaStsPolicy(`${POLICY}\nmode: none`).issues, "mta-sts-field-repeated", "info", "mode: testing"],
    [parseMtaStsPolicy(POLICY.replace("2419200", "60")).issues, "mta-sts-max-age-short", "info", "max_age: 2419200"],
  ])("MTA-STS %#: %s", (drafts, id, severity, how) => {
    expect(firstOf(adviseOn(MTA_STS_ADVICE, drafts, CONTEXT), id)).toEqual(expected(severity, how));
  });

  it.each([
    [
      ["v=TLSRPT1; rua=mailto:a@b.example"],
      "tls-rpt-record-malformed",
      "v=TLSRPTv1; rua=mailto:tls-reports@example.com",
    ],
    [
      ["v=TLSRPTv1; rua=mailto:a@b.example", "v=TLSRPTv1; rua=mailto:a@b.example"],
      "tls-rpt-several-records",
      "Keep one",
    ],
    [["v=TLSRPTv1; rua=http://a.example/"], "tls-rpt-address", "rua=mailto:tls-reports@example.com"],
    [["v=TLSRPTv1;"], "tls-rpt-address", "rua=mailto:tls-reports@example.com"],
  ])("%j: %s", (texts, id, how) => {
    expect(firstOf(adviseOn(TLS_RPT_ADVICE, readTlsRpt(texts).issues, CONTEXT), id)).toEqual(expected("info", how));
  });

  it.each([
    [["v=BIMI1; l=", "v=BIMI1; l="], "bimi-several-records", "Keep one TXT record at default._bimi.example.com"],
    [["v=BIMI1; l=http://example.com/a.svg"], "bimi-record-malformed", "l=https://example.com/logo.svg"],
    [["v=BIMI1; l=https://example.com/a.svg"], "bimi-without-certificate", "a=https://example.com/logo.pem"],
  ])("%j: %s", (texts, id, how) => {
    expect(firstOf(adviseOn(BIMI_ADVICE, readBimi(texts).issues, CONTEXT), id)).toEqual(expected("info", how));
  });
});
