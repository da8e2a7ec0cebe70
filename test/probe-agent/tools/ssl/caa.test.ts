import { describe, expect, it } from "vitest";
import { allowsIssuer, certifiedName, nameAndParents, type CaaRow } from "#probe-agent/tools/ssl/caa.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { createPki, issue } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";

const pki = await createPki();
const letsEncrypt = await issue({ subject: "C=US, O=Let's Encrypt, CN=E1", ca: true });
const certified = parsed(await issue({ dns: ["host.test"], issuer: letsEncrypt }));
const unknown = parsed(await pki.issue({ dns: ["host.test"], ocspUrls: ["http://ocsp.authority.test/x"] }));

/** Parses records as in a zone: "issue ca.test"; "!tag value" is a critical one. */
function rows(...texts: readonly string[]): CaaRow[] {
  return texts.map((text) => {
    const [, mark = "", tag = "", value = ""] = /^(!?)(\S+) ?(.*)$/.exec(text) ?? [];
    return { name: "host.test", critical: mark === "!", tag, value };
  });
}

describe("climbing the tree (RFC 8659 section 3)", () => {
  it("goes from the name to the top-level domain", () => {
    expect(nameAndParents("a.b.example.com.")).toEqual(["a.b.example.com", "b.example.com", "example.com", "com"]);
    expect(nameAndParents("com")).toEqual(["com"]);
  });

  it("begins at the name in the certificate; for a wildcard, at its parent", async () => {
    const wildcard = parsed(await pki.issue({ dns: ["*.example.test"] }));
    const both = parsed(await pki.issue({ dns: ["*.example.test", "www.example.test"] }));
    expect(certifiedName("www.example.test", wildcard)).toEqual({ name: "example.test", wildcard: true });
    expect(certifiedName("www.example.test", both)).toEqual({ name: "www.example.test", wildcard: false });
    expect(certifiedName("else.test", wildcard)).toEqual({ name: "else.test", wildcard: false });
  });
});

describe("whether the authority may issue (RFC 8659 section 4)", () => {
  const cases: readonly [string, readonly string[], Certificate, boolean, boolean | null][] = [
    ["no record: every authority is allowed", [], certified, false, true],
    ["only a reporting address: every authority is allowed", ["iodef mailto:a@host.test"], certified, false, true],
    ["its own domain", ["issue letsencrypt.org"], certified, false, true],
    ["its own domain with parameters", ["issue  LetsEncrypt.org. ; accounturi=https://x"], certified, false, true],
    ["among others", ["issue pki.goog", "issue letsencrypt.org"], certified, false, true],
    ["no authority", ["issue ;"], certified, false, false],
    ["no authority, malformed (section 4.2)", ["issue  "], certified, false, false],
    ["only other known authorities", ["issue digicert.com", "issue sectigo.com"], certified, false, false],
    ["an unknown domain", ["issue digicert.com", "issue reseller.test"], certified, false, null],
    ["an unknown authority in the certificate", ["issue digicert.com"], unknown, false, null],
    ["the domain of URLs in the certificate", ["issue authority.test"], unknown, false, true],
    ["a domain with only the same ending", ["issue thority.test"], unknown, false, null],
    ["a top-level domain", ["issue test"], unknown, false, null],
    ["issuewild, for a plain name: no effect", ["issuewild ;"], certified, false, true],
    ["issuewild, for a wildcard", ["issue letsencrypt.org", "issuewild ;"], certified, true, false],
    ["issue, for a wildcard without issuewild", ["issue letsencrypt.org"], certified, true, true],
    ["an unknown critical tag", ["issue letsencrypt.org", "!future x"], certified, false, null],
    ["an unknown tag that is not critical", ["issue letsencrypt.org", "future x"], certified, false, true],
    ["a known critical tag", ["!issue letsencrypt.org"], certified, false, true],
  ];
  it.each(cases)("%s", (_what, texts, leaf, wildcard, expected) => {
    expect(allowsIssuer(rows(...texts), leaf, wildcard)).toBe(expected);
  });
});
