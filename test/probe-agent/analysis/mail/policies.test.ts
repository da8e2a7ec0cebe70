import { describe, expect, it } from "vitest";
import { readBimi } from "#probe-agent/analysis/mail/bimi.ts";
import { parseMtaStsPolicy, policyNames, readMtaStsRecord } from "#probe-agent/analysis/mail/mta-sts.ts";
import { mailProvider } from "#probe-agent/tools/mx/providers.ts";
import { readTlsRpt } from "#probe-agent/analysis/mail/tls-rpt.ts";
import { cpuTime } from "#test/support/cpu-time.ts";
import { idsOf } from "#test/support/findings.ts";

describe("MTA-STS in DNS (RFC 8461 section 3.1)", () => {
  it.each<[string, readonly string[], boolean]>([
    ["the RFC's example", ["v=STSv1; id=20160831085700Z;"], true],
    ["other records beside it", ["hello", "v=STSv1;id=1"], true],
    ["none", [], false],
    ["several", ["v=STSv1; id=1;", "v=STSv1; id=2;"], false],
    ["no id", ["v=STSv1;"], false],
    ["an id of 33 characters", [`v=STSv1; id=${"a".repeat(33)};`], false],
    ["an id with a hyphen", ["v=STSv1; id=2016-08-31;"], false],
    ["another version", ["v=STSv2; id=1;"], false],
    ["the version in lower case", ["v=stsv1; id=1;"], false],
  ])("%s", (_what, texts, present) => {
    expect(readMtaStsRecord(texts).present).toBe(present);
  });
});

describe("an MTA-STS policy (section 3.2)", () => {
  it("is read from the RFC's example", () => {
    const text =
      "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmx: backupmx.example.com\r\nmax_age: 604800\r\n";
    expect(parseMtaStsPolicy(text)).toEqual({
      version: "STSv1",
      mode: "enforce",
      maxAgeS: 604_800,
      mx: ["mail.example.com", "*.example.net", "backupmx.example.com"],
      valid: true,
      issues: [],
    });
  });

  it.each([
    ["version: STSv1\nmode: none\nmax_age: 86400", true],
    ["mode: testing\nversion:STSv1\nmx:a.example\nmax_age:100000\nfuture_field: x", true],
    ["version: STSv1\nmode: enforce\nmax_age: 604800", false],
    ["version: STSv2\nmode: none\nmax_age: 1", false],
    ["mode: none\nmax_age: 1", false],
    ["version: STSv1\nmode: strict\nmx: a.example\nmax_age: 1", false],
    ["version: STSv1\nmode: none", false],
    ["version: STSv1\nmode: none\nmax_age: -1", false],
    ["version: STSv1\nmode: none\nmax_age: 31557601", false],
    ["version: STSv1\nmode: enforce\nmx: *.*.example\nmax_age: 604800", false],
    ["version: STSv1\nmode: enforce\nmx: https://a.example\nmax_age: 604800", false],
    ["<!doctype html><title>404</title>", false],
    ["", false],
  ])("%j: %s", (text, valid) => {
    expect(parseMtaStsPolicy(text).valid).toBe(valid);
  });

  it("causes findings on a short max_age and on repeated fields", () => {
    const { issues } = parseMtaStsPolicy("version: STSv1\nmode: enforce\nmode: none\nmx: a.example\nmax_age: 100");
    expect(idsOf(issues)).toEqual(["mta-sts-field-repeated", "mta-sts-max-age-short"]);
  });

  it("names hosts; *. matches one label (section 4.1)", () => {
    const patterns = ["mail.example.com", "*.example.net"];
    for (const host of ["mail.example.com", "MAIL.EXAMPLE.COM.", "mx1.example.net"]) {
      expect(policyNames(patterns, host)).toBe(true);
    }
    for (const host of ["example.com", "example.net", "a.b.example.net", "xmail.example.com", "net"]) {
      expect(policyNames(patterns, host)).toBe(false);
    }
  });

  it("of one megabyte is read in time", () => {
    const started = cpuTime();
    for (const text of [
      "mx: *.a\n".repeat(100_000),
      ":".repeat(1_000_000),
      `mx: ${"a-".repeat(500_000)}`,
      "\n".repeat(1e6),
    ]) {
      expect(JSON.stringify(parseMtaStsPolicy(text)).length).toBeLessThan(20_000);
    }
    expect(cpuTime() - started).toBeLessThan(5000);
  });
});

describe("TLSRPT (RFC 8460 section 3)", () => {
  it("is read from the RFC's examples", () => {
    expect(readTlsRpt(["v=TLSRPTv1; rua=mailto:reports@example.com"])).toMatchObject({
      valid: true,
      rua: ["mailto:reports@example.com"],
      issues: [],
    });
    expect(readTlsRpt(["v=TLSRPTv1; rua=https://reporting.example.com/v1/tlsrpt"]).valid).toBe(true);
  });

  it.each<[string, readonly string[], boolean]>([
    ["two addresses", ["v=TLSRPTv1;rua=mailto:a@b.example,https://c.example/x;"], true],
    ["none", [], false],
    ["several", ["v=TLSRPTv1; rua=mailto:a@b.example", "v=TLSRPTv1; rua=mailto:a@b.example"], false],
    ["no rua", ["v=TLSRPTv1;"], false],
    ["another scheme", ["v=TLSRPTv1; rua=http://a.example/"], false],
    ["another version", ["v=TLSRPTv2; rua=mailto:a@b.example"], false],
  ])("%s", (_what, texts, valid) => {
    expect(readTlsRpt(texts).valid).toBe(valid);
  });
});

describe("BIMI", () => {
  it.each<[string, boolean | null]>([
    ["v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/vmc.pem", true],
    ["v=BIMI1; l=https://example.com/logo.svg", true],
    ["v=BIMI1; l=; a=;", true],
    ["v=BIMI1; l=http://example.com/logo.svg", false],
    ["v=BIMI1; l=https://example.com/logo.png", false],
    ["v=BIMI1; a=https://example.com/vmc.pem", false],
    ["v=BIMI1; l=https://example.com/logo.svg; a=ftp://x/", false],
    ["v=spf1 -all", null],
  ])("%s: %s", (text, valid) => {
    expect(readBimi([text]).valid).toBe(valid);
  });
});

describe("providers", () => {
  it.each([
    ["aspmx.l.google.com", "Google Workspace"],
    ["example-com.mail.protection.outlook.com", "Microsoft 365"],
    ["MX1.PPHOSTED.COM", "Proofpoint"],
    ["mail.example.com", null],
    ["notgoogle.com", null],
    [".", null],
  ])("%s: %s", (host, provider) => {
    expect(mailProvider([host])).toBe(provider);
  });
});
