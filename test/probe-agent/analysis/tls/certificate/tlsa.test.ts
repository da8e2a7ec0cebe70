import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { isUsableTlsa, satisfiesTlsa, type Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import { createPki, daysFromNow, type Issued } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";

const NOW = new Date();
const HOST = "leaf.test";
const pki = await createPki();
const leaf = await pki.issue({ dns: [HOST] });

/** Creates a record that matches a certificate. */
function tlsa(usage: number, { der }: Issued, selector = 1, matchingType = 1): Tlsa {
  const octets = selector === 0 ? der : parsed({ der } as Issued).spki;
  const hash = matchingType === 0 ? null : matchingType === 1 ? "sha256" : "sha512";
  const data = hash === null ? Buffer.from(octets) : createHash(hash).update(octets).digest();
  return { usage, selector, matchingType, data: data.toString("hex") };
}

function fits(
  record: Tlsa,
  { certificate = leaf, others = [pki.intermediate], roots = [pki.root.der], host = HOST } = {},
): boolean {
  const intermediates = others.map(({ der }) => der);
  const verification = verifyChain({ leaf: certificate.der, intermediates, roots, host, now: NOW });
  return satisfiesTlsa(record, { leaf: parsed(certificate), others: others.map(parsed), host, now: NOW, verification });
}

describe("the certificate that a TLSA record matches (RFC 6698 section 2.1)", () => {
  it.each([
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 1],
    [1, 2],
  ])("selector %s with matching type %s", (selector, matchingType) => {
    expect(fits(tlsa(3, leaf, selector, matchingType))).toBe(true);
    expect(fits(tlsa(3, pki.intermediate, selector, matchingType))).toBe(false);
  });

  it.each([
    ["an unknown usage", { usage: 4 }],
    ["an unknown selector", { selector: 2 }],
    ["an unknown matching type", { matchingType: 3 }],
    ["a hash that is too short", { data: "ab" }],
    ["empty data", { matchingType: 0, data: "" }],
    ["fields that cannot be read", { usage: -1, selector: -1, matchingType: -1, data: "" }],
  ])("one with %s is not usable", (_what, change) => {
    const record = { ...tlsa(3, leaf), ...change };
    expect(isUsableTlsa(record)).toBe(false);
    expect(fits(record)).toBe(false);
  });
});

describe("DANE-EE(3) (RFC 7671 section 5.1)", () => {
  it("requires only the certificate, without a root, the name or valid dates", async () => {
    const old = await pki.issue({ dns: ["other.test"], notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) });
    expect(fits(tlsa(3, old), { certificate: old, roots: [] })).toBe(true);
  });
});

describe("DANE-TA(2) (RFC 7671 section 5.2)", () => {
  it("uses an authority that was sent as anchor, regardless of the roots", () => {
    expect(fits(tlsa(2, pki.intermediate), { roots: [] })).toBe(true);
    expect(fits(tlsa(2, pki.root), { roots: [], others: [pki.intermediate, pki.root] })).toBe(true);
  });

  it("requires the name, the dates and the signatures up to the anchor", async () => {
    const expired = await pki.issue({ dns: [HOST], notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) });
    const stranger = await createPki();
    expect(fits(tlsa(2, pki.intermediate), { host: "other.test" })).toBe(false);
    expect(fits(tlsa(2, pki.intermediate), { certificate: expired })).toBe(false);
    expect(fits(tlsa(2, stranger.intermediate), { others: [stranger.intermediate] })).toBe(false);
  });

  it("requires that the authority is sent, and does not match the server's own certificate", () => {
    expect(fits(tlsa(2, pki.root))).toBe(false);
    expect(fits(tlsa(2, leaf))).toBe(false);
  });
});

describe("PKIX-EE(1) and PKIX-TA(0) (RFC 7671 sections 5.3 and 5.4)", () => {
  it("require a trusted chain too", () => {
    for (const record of [tlsa(1, leaf), tlsa(0, pki.intermediate), tlsa(0, pki.root)]) {
      expect(fits(record)).toBe(true);
      expect(fits(record, { roots: [] })).toBe(false);
      expect(fits(record, { host: "other.test" })).toBe(false);
    }
  });

  it("match the server's certificate, or an authority of the path", () => {
    expect(fits(tlsa(1, pki.intermediate))).toBe(false);
    expect(fits(tlsa(0, leaf))).toBe(false);
  });
});
