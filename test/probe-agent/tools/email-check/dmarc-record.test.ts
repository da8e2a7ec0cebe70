import { describe, expect, it } from "vitest";
import { isDmarcRecord, explainNearDmarc, parseDmarc } from "#probe-agent/tools/email-check/dmarc-record.ts";
import { cpuTime } from "#test/support/cpu-time.ts";
import { messagesOf } from "#test/support/findings.ts";

describe("a DMARC record (RFC 9989 sections 4.7 and 4.8)", () => {
  it.each([
    ["v=DMARC1; p=none", true],
    ["v=DMARC1", true],
    ["V = DMARC1 ;p=none", true],
    ["v=dmarc1; p=none", false],
    ["v=DMARC10; p=none", false],
    ["v=DMARC1 p=none", false],
    ["p=none; v=DMARC1", false],
    [" v=DMARC1; p=none", false],
    ["v=spf1 -all", false],
  ])("%j: %s", (text, is) => {
    expect(isDmarcRecord(text)).toBe(is);
  });

  it.each([
    [String.raw`v=DMARC1\; p=reject\; rua=mailto:d@example.com`, "backslashes"],
    ["v=DMARC1 p=reject", "a semicolon must follow"],
    ["v=DMARC1, p=reject", "a semicolon must follow"],
    [" v=DMARC1; p=reject", "a space or a quotation mark precedes"],
    ['"v=DMARC1; p=reject"', "a space or a quotation mark precedes"],
    ["v=dmarc1; p=reject", "it must begin with v=DMARC1;"],
    ["p=reject; v=DMARC1", "it must begin with v=DMARC1;"],
  ])("%s is not a record, with the reason", (text, why) => {
    expect(explainNearDmarc(text)).toContain(why);
  });

  it("is distinguished from unrelated texts", () => {
    expect([explainNearDmarc("v=DMARC1; p=none"), explainNearDmarc("v=spf1 -all")]).toEqual([null, null]);
  });

  it("has tags in upper and lower case", () => {
    const text =
      "v=DMARC1; p=Reject; SP=quarantine; np=reject; adkim=s; aspf=r; fo=1:d:s; t=n; psd=n; rua=mailto:a@example.com,mailto:b@example.org; ruf=mailto:f@example.com";
    expect(parseDmarc(text)).toEqual({
      text,
      p: "reject",
      sp: "quarantine",
      np: "reject",
      adkim: "s",
      aspf: "r",
      fo: "1:d:s",
      t: "n",
      psd: "n",
      pct: null,
      rua: [
        { uri: "mailto:a@example.com", domain: "example.com", max_size_bytes: null, usable: true },
        { uri: "mailto:b@example.org", domain: "example.org", max_size_bytes: null, usable: true },
      ],
      ruf: [{ uri: "mailto:f@example.com", domain: "example.com", max_size_bytes: null, usable: true }],
      malformed: false,
      applies: true,
      issues: [],
    });
  });

  it("has defaults for invalid values (section 4.7), with a finding for each", () => {
    const record = parseDmarc("v=DMARC1; p=none; adkim=x; aspf=strict; fo=7; t=maybe; psd=q; rua=mailto:a@example.com");
    expect(record).toMatchObject({ adkim: "r", aspf: "r", fo: "0", t: "n", psd: "u" });
    expect(record.issues).toHaveLength(5);
  });

  // Examples of RFC 7489 appendix B.2. RFC 9989 keeps their form.
  it.each([
    ["v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com", { p: "none", issues: [] }],
    [
      "v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com; ruf=mailto:auth-reports@example.com",
      { p: "none", issues: [] },
    ],
    [
      "v=DMARC1; p=quarantine; rua=mailto:dmarc-feedback@example.com,mailto:tld-test@thirdparty.example.net!10m; pct=25",
      { p: "quarantine", pct: 25, applies: true },
    ],
  ])("%s", (text, expected) => {
    expect(parseDmarc(text)).toMatchObject(expected);
  });

  it("can have the size limit of RFC 7489 and addresses other than mailto", () => {
    const { rua, issues } = parseDmarc(
      "v=DMARC1; p=none; rua=mailto:a@example.com!10m, mailto:b@example.com!2K,https://example.com/r,mailto:nobody,mailto:c@ex%21ample.com",
    );
    expect(rua).toMatchObject([
      { uri: "mailto:a@example.com", max_size_bytes: 10_485_760, usable: true },
      { uri: "mailto:b@example.com", max_size_bytes: 2048, usable: true },
      { uri: "https://example.com/r", domain: null, usable: false },
      { uri: "mailto:nobody", usable: false },
      { usable: false },
    ]);
    expect(messagesOf(issues)).toMatch(/!10m was removed by RFC 9990.*!2K.*only mailto:.*not a mailto/s);
  });

  it("with an invalid policy counts as p=none with a usable rua and is ignored without one (section 4.10.1)", () => {
    expect(parseDmarc("v=DMARC1; p=block; rua=mailto:a@example.com")).toMatchObject({
      p: null,
      malformed: true,
      applies: true,
    });
    expect(parseDmarc("v=DMARC1; p=block")).toMatchObject({ applies: false });
    expect(parseDmarc("v=DMARC1; p=reject; sp=maybe; rua=https://example.com/")).toMatchObject({ applies: false });
    const missing = parseDmarc("v=DMARC1; rua=mailto:a@example.com");
    expect(missing).toMatchObject({ p: null, malformed: false, applies: true });
    expect(messagesOf(missing.issues)).toContain("p is missing: receivers treat the record as p=none");
  });

  it("causes findings on obsolete, repeated, unknown and malformed tags", () => {
    const { issues, pct } = parseDmarc("v=DMARC1; sp=none; p=none; p=reject; pct=200; rf=afrf; ri=3600; x=1; hello");
    expect(pct).toBeNull();
    for (const word of [
      "pct was removed",
      "rf was removed",
      "ri was removed",
      "p is given more than once",
      "The tag x is unknown",
      '"hello" is not a tag',
      "p does not follow v",
      "has no rua",
    ]) {
      expect(messagesOf(issues)).toContain(word);
    }
  });

  it("with hostile content is read in time and printed as ASCII", () => {
    const started = cpuTime();
    const hostile = [
      `v=DMARC1; ${"p=none;".repeat(50_000)}`,
      `v=DMARC1; rua=${"mailto:a@b.example!".repeat(30_000)}`,
      `v=DMARC1; rua=${"mailto:".repeat(50_000)}@`,
      `v=DMARC1;${" \t".repeat(200_000)}p=none`,
      `v=DMARC1; p=\0\r\n\xff`,
      `v=DMARC1; rua=mailto:${"%".repeat(10_000)}@%E0%A4%A.example`,
    ];
    for (const text of hostile) expect(JSON.stringify(parseDmarc(text)).length).toBeLessThan(20_000);
    expect(JSON.stringify(parseDmarc(hostile[4] ?? ""))).not.toMatch(/\\u00|\\r|\\n|ÿ/);
    expect(cpuTime() - started).toBeLessThan(5000);
  });
});
