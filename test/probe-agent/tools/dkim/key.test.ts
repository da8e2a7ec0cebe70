import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DKIM_ADVICE } from "#probe-agent/tools/dkim/advice.ts";
import { isDkimRecord, parseDkimKey } from "#probe-agent/tools/dkim/key.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import { KNOWN_SELECTORS } from "#probe-agent/tools/dkim/selectors.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

/** The key of RFC 6376 appendix C, split at the line breaks of its zone file. */
const RFC_6376 =
  "v=DKIM1; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYt" +
  "IxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhi" +
  "tdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB";
/** The key of RFC 8463 appendix A.2. */
const RFC_8463 = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

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

  it("can have white space within the base64 data and can be bare PKCS #1", () => {
    const spaced = rsa(2048).replaceAll(/(.{30})/g, "$1 \t\r\n ");
    expect(parseDkimKey(`v=DKIM1;p= ${spaced}`)).toMatchObject({ valid: true, key: { bits: 2048 } });
    const bare = { valid: true, key: { encoding: "pkcs1", bits: 2048 } };
    expect(parseDkimKey(`p=${rsa(2048, "pkcs1")}`)).toMatchObject(bare);
  });
});

const P = rsa(2048);
/** An Ed25519 key as SubjectPublicKeyInfo. DKIM expects its 32 octets alone. */
const SPKI = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const NAME = "june._domainkey.example.test";

function findingsOf(text: string) {
  const key = parseDkimKey(text);
  return adviseOn(DKIM_ADVICE, key.issues, { name: NAME, key }, "june");
}

describe("findings on a key record", () => {
  it.each([
    [`v=DKIM2; p=${P}`, "version-unknown", "critical", "version must be DKIM1"],
    [`v=dkim1; p=${P}`, "version-unknown", "critical", "version must be DKIM1"],
    [`k=rsa; v=DKIM1; p=${P}`, "version-not-first", "critical", "first tag"],
    [`v=DKIM1; k=rsa; k=rsa; p=${P}`, "tag-repeated", "critical", "more than once"],
    [`v=DKIM1; garbage; p=${P}`, "tag-malformed", "critical", "is not a tag"],
    [`v=DKIM1; h=sha512; p=${P}`, "sha256-not-allowed", "critical", "leaves out sha256"],
    [`v=DKIM1; h=sha1; p=${P}`, "sha256-not-allowed sha1-allowed", "critical", "leaves out sha256"],
    [`v=DKIM1; s=tlsrpt; p=${P}`, "not-for-mail", "critical", "not for mail"],
    ["v=DKIM1; k=rsa", "key-missing", "critical", "missing"],
    ["v=DKIM1; p=", "key-revoked", "info", "revoked"],
    ["v=DKIM1; k=dsa; p=AAAA", "key-type-unknown", "critical", "verifiers support only rsa and ed25519"],
    [`v=DKIM1; p=${SPKI}`, "key-type-mismatch", "critical", "key type is ed25519"],
    ["v=DKIM1; p=not base64!", "key-not-base64", "critical", "not valid base64"],
    ["v=DKIM1; p=AAA", "key-not-base64", "critical", "not valid base64"],
    [`v=DKIM1; p=${P.slice(0, 200)}" "${P.slice(200)}`, "key-not-base64", "critical", "contains quotation marks"],
    [`v=DKIM1; p=${P}\\`, "key-not-base64", "critical", "contains a backslash"],
    [`v=DKIM1; p=-----BEGIN PUBLIC KEY-----${P}-----END PUBLIC KEY-----`, "key-not-base64", "critical", "PEM key"],
    // A record cut to 255 or 254 characters: with and without a complete base64 group at the end.
    [`v=DKIM1; p=${P.slice(0, 244)}`, "key-cut-short", "critical", "cut short: 183 of 294 bytes are published"],
    [`v=DKIM1; p=${P.slice(0, 243)}`, "key-not-base64", "critical", "may be cut short"],
    [`v=DKIM1; k=ed25519; p=${SPKI}`, "key-unreadable", "critical", "32 octets"],
    [RFC_8463.replace(" k=ed25519;", ""), "key-unreadable", "critical", "is not an RSA public key"],
    [`v=DKIM1; p=${"A".repeat(8000)}`, "key-unreadable", "critical", "longer than any"],
    [`v=DKIM1; p=${rsa(512)}`, "key-too-short", "critical", "512 bits"],
    [`v=DKIM1; p=${rsa(1024)}`, "key-weak", "warning", "1024 bits is short"],
    [`v=DKIM1; p=${rsa(2048, "pkcs1")}`, "key-pkcs1", "warning", "PKCS #1"],
    [`v=DKIM1; h=sha1:sha256; p=${P}`, "sha1-allowed", "info", "allows sha1"],
    [`v=DKIM1; t=y; p=${P}`, "testing-mode", "warning", "t"],
    [`v=DKIM1; g=*; p=${P}`, "tag-obsolete", "info", "removed by RFC 6376"],
    [`v=DKIM1; zz=1; p=${P}`, "tag-unknown", "info", "zz is unknown"],
  ])("%.40s is %s, %s, with the name of the record in the advice", (text, id, severity, words) => {
    const found = findingsOf(text);
    expect(found.map((finding) => finding.id).join(" ")).toBe(id);
    expect(found[0]).toMatchObject({ severity, where: "june", message: expect.stringContaining(words) as string });
    expect(found[0]?.how).toMatch(
      id === "key-revoked" || id.endsWith("short") || id === "key-weak"
        ? /p=<base64/
        : /june\._domainkey\.example\.test/,
    );
    expect(parseDkimKey(text).valid).toBe(severity !== "critical" && id !== "key-revoked");
  });

  it("name one record that repairs all faults", () => {
    const found = findingsOf(`k=rsa; v=DKIM1; t=y:s; p=${P}`);
    expect(found.map(({ id }) => id)).toEqual(["version-not-first", "testing-mode"]);
    const advice = `Publish this TXT record at ${NAME}: "v=DKIM1; k=rsa; t=s; p=${P}"`;
    expect(new Set(found.map(({ how }) => how))).toEqual(new Set([advice]));
  });

  it("are none for a record that the advice makes from a readable key", () => {
    for (const tags of ["v=DKIM1; t=y:s", "v=DKIM1; h=sha1:sha256", "k=rsa; v=DKIM1", "v=DKIM1; s=email:tlsrpt; g=*"]) {
      const [, record = ""] = /: "([^"]+)"$/.exec(findingsOf(`${tags}; p=${P}`)[0]?.how ?? "") ?? [];
      expect(parseDkimKey(record)).toMatchObject({ valid: true, issues: [] });
    }
  });
});

describe("tags", () => {
  it.each([
    ["v=DKIM1; t=y:s", { testing: true, strict_subdomain: true, t: ["y", "s"] }],
    ["v=DKIM1; h=sha1:sha256", { h: ["sha1", "sha256"] }],
    ["v=DKIM1; s=email:tlsrpt", { s: ["email", "tlsrpt"] }],
    ["v=DKIM1; n=key=20of=20June", { n: "key of June" }],
    ["v=DKIM1; g=*; x=1", { v: "DKIM1" }],
    [" v = DKIM1 ", { v: "DKIM1" }],
    ["k=RSA", { k: "rsa", v: "DKIM1" }],
  ])("%s is read", (tags, expected) => {
    expect(parseDkimKey(`${tags}; p=${P}`)).toMatchObject({ valid: true, ...expected });
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
