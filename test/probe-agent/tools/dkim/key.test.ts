import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isDkimRecord, parseDkimKey } from "#probe-agent/tools/dkim/key.ts";
import { KNOWN_SELECTORS } from "#probe-agent/tools/dkim/selectors.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

/** The key of RFC 6376 appendix C, split at the line breaks of its zone file. */
const RFC_6376 =
  "v=DKIM1; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYt" +
  "IxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhi" +
  "tdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB";
/** The key of RFC 8463 appendix A.2. */
const RFC_8463 = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

function messagesOf(drafts: readonly { readonly message: string }[]): string {
  return drafts.map(({ message }) => message).join("\n");
}

function rsa(bits: number, type: "spki" | "pkcs1" = "spki"): string {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  return publicKey.export({ format: "der", type }).toString("base64");
}

describe("examples of the RFCs", () => {
  it("RFC 6376 appendix C: an RSA key of 1024 bits", () => {
    expect(parseDkimKey(RFC_6376)).toMatchObject({
      valid: true,
      v: "DKIM1",
      k: "rsa",
      key: { type: "rsa", bits: 1024, encoding: "spki" },
      weak: true,
      s: ["*"],
      h: null,
    });
  });

  it("RFC 8463 appendix A.2: Ed25519", () => {
    expect(parseDkimKey(RFC_8463)).toMatchObject({
      valid: true,
      k: "ed25519",
      key: { type: "ed25519", bits: 256, encoding: "raw" },
      weak: false,
      issues: [],
    });
  });

  it("RFC 6376 section 3.6.1: an empty p is a revoked key", () => {
    expect(parseDkimKey("v=DKIM1; p=")).toMatchObject({ valid: false, revoked: true, p: "", key: null, weak: null });
    expect(parseDkimKey("p=;")).toMatchObject({ revoked: true });
  });
});

describe("keys", () => {
  it.each([
    [512, false, true],
    [1024, true, true],
    [1536, true, true],
    [2048, true, false],
  ])("of %d bits: valid %s, weak %s (RFC 8301)", (bits, valid, weak) => {
    expect(parseDkimKey(`v=DKIM1; p=${rsa(bits)}`)).toMatchObject({ valid, weak, key: { bits } });
  });

  it("in bare PKCS #1 are read and cause a finding", () => {
    const key = parseDkimKey(`p=${rsa(2048, "pkcs1")}`);
    expect(key).toMatchObject({ valid: true, key: { encoding: "pkcs1", bits: 2048 } });
    expect(messagesOf(key.issues)).toContain("PKCS #1");
  });

  it("can have white space within the base64 data", () => {
    const spaced = rsa(2048).replaceAll(/(.{30})/g, "$1 \t\r\n ");
    expect(parseDkimKey(`v=DKIM1;p= ${spaced}`)).toMatchObject({ valid: true, key: { bits: 2048 } });
  });

  it.each([
    ["v=DKIM1; k=ed25519; p=MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "32 octets"],
    ["v=DKIM1; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "is not an RSA public key"],
    ["v=DKIM1; p=MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "key type is ed25519"],
    ["v=DKIM1; p=not base64!", "not valid base64"],
    ["v=DKIM1; p=AAA", "not valid base64"],
    ["v=DKIM1; k=dsa; p=AAAA", "verifiers support only rsa and ed25519"],
    ["v=DKIM1; k=rsa", "missing"],
    [`v=DKIM1; p=${"A".repeat(8000)}`, "longer than any"],
    // A record cut to 255 or 254 characters: with and without a complete base64 group at the end.
    [`v=DKIM1; p=${rsa(2048).slice(0, 244)}`, "cut short: 183 of 294 bytes are published"],
    [`v=DKIM1; p=${rsa(2048).slice(0, 243)}`, "may be cut short"],
    [`v=DKIM1; p=${rsa(2048).slice(0, 200)}" "${rsa(2048).slice(200)}`, "contains quotation marks"],
    [`v=DKIM1; p=${rsa(2048)}\\`, "contains a backslash"],
    [`v=DKIM1; p=-----BEGIN PUBLIC KEY-----${rsa(2048)}-----END PUBLIC KEY-----`, "PEM key"],
  ])("%s: %s", (text, reason) => {
    const key = parseDkimKey(text);
    expect(key.valid).toBe(false);
    expect(messagesOf(key.issues)).toContain(reason);
  });
});

describe("tags", () => {
  const P = rsa(2048);
  const parse = (tags: string) => parseDkimKey(`${tags}; p=${P}`);

  it.each([
    ["v=DKIM2", "version must be DKIM1"],
    ["v=dkim1", "version must be DKIM1"],
    ["k=rsa; v=DKIM1", "first tag"],
    ["v=DKIM1; h=sha1", "leaves out sha256"],
    ["v=DKIM1; s=tlsrpt", "not for mail"],
    ["v=DKIM1; k=rsa; k=rsa", "more than once"],
    ["v=DKIM1; garbage", "is not a tag"],
  ])("%s makes the record invalid: %s", (tags, reason) => {
    expect(parse(tags).valid).toBe(false);
    expect(messagesOf(parse(tags).issues)).toContain(reason);
  });

  it.each([
    ["v=DKIM1; t=y:s", { testing: true, strict_subdomain: true, t: ["y", "s"] }],
    ["v=DKIM1; h=sha1:sha256", { h: ["sha1", "sha256"] }],
    ["v=DKIM1; s=email:tlsrpt", { s: ["email", "tlsrpt"] }],
    ["v=DKIM1; n=key=20of=20June", { n: "key of June" }],
    ["v=DKIM1; g=*; x=1", { v: "DKIM1" }],
    [" v = DKIM1 ", { v: "DKIM1" }],
    ["k=RSA", { k: "rsa", v: "DKIM1" }],
  ])("%s is read", (tags, expected) => {
    expect(parse(tags)).toMatchObject({ valid: true, ...expected });
  });

  it("distinguish a key from other TXT records", () => {
    for (const text of ["v=spf1 -all", "hello", "", "k=rsa"]) expect(isDkimRecord(text)).toBe(false);
    for (const text of ["v=DKIM1", "p=", "k=rsa; p=AAAA"]) expect(isDkimRecord(text)).toBe(true);
  });

  it("of hostile texts are read in time and printed as ASCII", () => {
    const started = cpuTime();
    for (const text of [
      `v=DKIM1; p=${"A".repeat(1_000_000)}`,
      `v=DKIM1; p=${"A ".repeat(500_000)}!`,
      ";".repeat(1_000_000),
      "=;".repeat(500_000),
      `v=DKIM1; n=${"=".repeat(1_000_000)}; p=`,
      `v=DKIM1; t=${":".repeat(1_000_000)}; p=`,
      "v=DKIM1; n=\0\xff\r\n; __proto__=1; p=",
    ]) {
      const shown = JSON.stringify(parseDkimKey(text));
      expect(shown.length).toBeLessThan(20_000);
      expect(shown).not.toMatch(/\\u00|\\r|ÿ/);
    }
    expect(cpuTime() - started).toBeLessThan(5000);
  });
});

describe("the table of selectors", () => {
  it("has 30 to 40 entries without duplicates", () => {
    const names = KNOWN_SELECTORS.map(({ selector }) => selector);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(30);
    expect(names.length).toBeLessThanOrEqual(40);
  });

  it.each([
    ["google", "Google Workspace"],
    ["litesrv", "MailerLite"],
    ["dk", "ActiveCampaign"],
    ["krs", "Mailgun"],
    ["mte1", "Mailchimp Transactional"],
    ["brevo1", "Brevo"],
    ["s1-ionos", "IONOS"],
    ["hostingermail-a", "Hostinger"],
    ["gm1", "Gandi"],
    ["cf2024-1", "Cloudflare Email Routing"],
  ])("has %s with its usual service, %s", (selector, usedBy) => {
    expect(KNOWN_SELECTORS.find((known) => known.selector === selector)?.used_by).toBe(usedBy);
  });
});
