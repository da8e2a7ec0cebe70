import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseDkimKey } from "#probe-agent/tools/dkim/key.ts";
import { DKIM_ADVICE } from "#probe-agent/tools/dkim/advice.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";

function rsa(bits: number, type: "spki" | "pkcs1" = "spki"): string {
  return generateKeyPairSync("rsa", { modulusLength: bits })
    .publicKey.export({ format: "der", type })
    .toString("base64");
}

const P = rsa(2048);
const ED25519 = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const NAME = "june._domainkey.example.test";

function findingsOf(text: string) {
  const key = parseDkimKey(text);
  return adviseOn(DKIM_ADVICE, key.issues, { name: NAME, key }, "june");
}

describe("findings on a key record", () => {
  it.each([
    [`v=DKIM2; p=${P}`, "version-unknown", "critical"],
    [`k=rsa; v=DKIM1; p=${P}`, "version-not-first", "critical"],
    [`v=DKIM1; k=rsa; k=rsa; p=${P}`, "tag-repeated", "critical"],
    [`v=DKIM1; garbage; p=${P}`, "tag-malformed", "critical"],
    [`v=DKIM1; h=sha512; p=${P}`, "sha256-not-allowed", "critical"],
    [`v=DKIM1; s=tlsrpt; p=${P}`, "not-for-mail", "critical"],
    ["v=DKIM1; k=rsa", "key-missing", "critical"],
    ["v=DKIM1; p=", "key-revoked", "info"],
    ["v=DKIM1; k=dsa; p=AAAA", "key-type-unknown", "critical"],
    [`v=DKIM1; p=${ED25519}`, "key-type-mismatch", "critical"],
    ["v=DKIM1; p=not base64!", "key-not-base64", "critical"],
    [`v=DKIM1; p=${P.slice(0, 244)}`, "key-cut-short", "critical"],
    [`v=DKIM1; k=ed25519; p=${ED25519}`, "key-unreadable", "critical"],
    [`v=DKIM1; p=${rsa(512)}`, "key-too-short", "critical"],
    [`v=DKIM1; p=${rsa(1024)}`, "key-weak", "warning"],
    [`v=DKIM1; p=${rsa(2048, "pkcs1")}`, "key-pkcs1", "warning"],
    [`v=DKIM1; h=sha1:sha256; p=${P}`, "sha1-allowed", "info"],
    [`v=DKIM1; t=y; p=${P}`, "testing-mode", "warning"],
    [`v=DKIM1; g=*; p=${P}`, "tag-obsolete", "info"],
    [`v=DKIM1; zz=1; p=${P}`, "tag-unknown", "info"],
  ])("%.40s is %s, %s, with the name of the record in the advice", (text, id, severity) => {
    const found = findingsOf(text);
    expect(found.map((finding) => finding.id)).toEqual([id]);
    expect(found[0]).toMatchObject({ severity, where: "june" });
    expect(found[0]?.how).toMatch(
      id === "key-revoked" || id.endsWith("short") || id === "key-weak"
        ? /p=<base64/
        : /june\._domainkey\.example\.test/,
    );
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
