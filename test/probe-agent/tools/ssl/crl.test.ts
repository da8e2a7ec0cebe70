import { afterAll, describe, expect, it } from "vitest";
import { certificateList, manyEntries } from "#test/servers/crl.ts";
import { ocspResponse } from "#test/servers/ocsp.ts";
import { daysFromNow, issue, type Issued } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";
import { startStatusLab, type SslResult } from "#test/support/ssl-status.ts";

const lab = await startStatusLab();
afterAll(() => lab.close());
const issuer = lab.pki.intermediate;
const AT = new Date("2026-02-03T04:05:06Z");
const TRUSTED = { trusted: true, chain_trusted: true, trust_error: null };

function list(revoked: readonly Issued[] = [], of: Issued = issuer): Uint8Array {
  const entries = revoked.map((one) => ({ serialNumber: parsed(one).serialNumber, at: AT, reason: 4 }));
  return certificateList({ issuer: of, entries });
}

let count = 0;
/** Returns an unused path, because lists are cached by URL. */
function path(kind: string): string {
  count += 1;
  return `/${kind}/${count}`;
}

describe("the revocation list", () => {
  async function listed(octets: (leaf: Issued) => Uint8Array | number): Promise<SslResult> {
    const at = path("crl");
    const leaf = await lab.issue({ crlUrls: ["ldap://x.test/", lab.say(at, 500)] });
    lab.say(at, octets(leaf));
    return await lab.check(leaf);
  }

  it("gives the status if there is no responder, as with Let's Encrypt", async () => {
    const result = await listed(() => list());
    expect(result).toMatchObject({ ...TRUSTED, revocation: { status: "good", method: "crl" } });
    expect(result.ocsp).toEqual({
      stapled: false,
      source: null,
      status: null,
      this_update: null,
      next_update: null,
      produced_at: null,
      responder_url: null,
      signature_valid: null,
      error: null,
    });
    expect(result.revocation.crl).toMatchObject({ url: expect.stringMatching(/\/crl\/\d+$/) as string, error: null });
    const revoked = await listed((leaf) => list([leaf]));
    expect(revoked).toMatchObject({
      trust_error: "revoked",
      revocation: { status: "revoked", method: "crl", reason: "superseded", revoked_at: AT.toISOString() },
    });
  });

  it("is used if the responder does not know the certificate", async () => {
    const [ocsp, crl] = [path("ocsp"), path("crl")];
    const leaf = await lab.issue({ ocspUrls: [lab.say(ocsp, 500)], crlUrls: [lab.say(crl, 500)] });
    const single = { certificate: leaf, issuer, status: "unknown" } as const;
    lab.say(ocsp, ocspResponse({ signer: issuer, singles: [single] }));
    lab.say(crl, list([leaf]));
    const result = await lab.check(leaf);
    expect(result.ocsp).toMatchObject({ source: "responder", status: "unknown", error: null });
    expect(result.revocation).toMatchObject({ status: "revoked", method: "crl" });
  });

  it.each([
    ["does not exist", (): number => 404, "http_404"],
    ["is not a list", () => Buffer.from("<html>"), "malformed"],
    ["is signed by another authority", () => certificateList({ issuer, signer: lab.pki.root }), "bad_signature"],
    [
      "has expired",
      () => certificateList({ issuer, thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-1) }),
      "stale",
    ],
    ["is longer than ten megabytes", () => Buffer.alloc(10.5 * 1024 * 1024), "too_large"],
  ] as const)("that %s leaves the status unknown", async (_what, octets, error) => {
    const result = await listed(octets);
    expect(result).toMatchObject({ ...TRUSTED, revocation: { status: "unknown", method: null, crl: { error } } });
    expect(result.limitations.join(" ")).toContain(`revocation list: ${error}`);
  });

  it("of ten megabytes and 300,000 entries is searched in time", async () => {
    const rawEntries = manyEntries(300_000);
    const result = await listed(() => certificateList({ issuer, rawEntries }));
    expect(result.revocation).toMatchObject({ status: "good", method: "crl" });
  });

  it("is fetched once for checks at the same time", async () => {
    const at = path("crl");
    const crlUrls = [lab.say(at, list())];
    const [one, two] = [await lab.issue({ crlUrls }), await lab.issue({ crlUrls })];
    lab.say(at, list([two]));
    const results: readonly SslResult[] = await Promise.all([lab.check(one), lab.check(two)]);
    expect(results.map(({ revocation }) => revocation.status)).toEqual(["good", "revoked"]);
    expect(lab.asked()).toHaveLength(1);
  });

  it.each([
    ["for an hour", 7, 1],
    ["until its next update at most", 0.3 / 24, 0.4],
  ])("is kept %s", async (_what, days, hours) => {
    const at = path("crl");
    const leaf = await lab.issue({
      crlUrls: [lab.say(at, certificateList({ issuer, nextUpdate: daysFromNow(days) }))],
    });
    const after = (factor: number) => lab.check(leaf, { now: () => daysFromNow((hours * factor) / 24) });
    expect((await after(0)).revocation.status).toBe("good");
    lab.say(at, list([leaf]));
    expect((await after(0.5)).revocation.status).toBe("good");
    expect(lab.asked()).toEqual([]);
    expect((await after(1.1)).revocation.status).toBe("revoked");
    expect(lab.asked()).toHaveLength(1);
  });

  it("that is forged is not kept", async () => {
    const at = path("crl");
    const leaf = await lab.issue({ crlUrls: [lab.say(at, certificateList({ issuer, signer: lab.pki.root }))] });
    expect((await lab.check(leaf)).revocation.crl).toMatchObject({ error: "bad_signature" });
    lab.say(at, list());
    expect((await lab.check(leaf)).revocation.status).toBe("good");
  });
});

describe("authorities above", () => {
  it("are looked up in the lists of their issuers, and a revoked one makes the server untrusted", async () => {
    const at = path("root");
    const crlUrls = [lab.say(at, 500)];
    const middle = await issue({ issuer: lab.pki.root, subject: "Middle", ca: true, crlUrls });
    const leaf = await lab.pki.issue({ dns: ["tls.example"], issuer: middle });
    lab.say(at, list([], lab.pki.root));
    const good = await lab.check(leaf, { chain: [middle], staple: stapledBy(middle, leaf) });
    expect(good).toMatchObject({ ...TRUSTED, revocation: { status: "good", method: "staple" } });
    expect(good.revocation.authorities).toEqual([
      { subject: "CN=Middle", status: "good", reason: null, revoked_at: null },
    ]);
    const second = path("root");
    const revokedUrl = [lab.say(second, 500)];
    const bad = await issue({ issuer: lab.pki.root, subject: "Bad", ca: true, crlUrls: revokedUrl });
    lab.say(second, list([bad], lab.pki.root));
    const below = await lab.pki.issue({ dns: ["tls.example"], issuer: bad });
    const result = await lab.check(below, { chain: [bad], staple: stapledBy(bad, below) });
    expect(result).toMatchObject({
      trusted: false,
      trust_error: "revoked",
      grade: "T",
      revocation: { status: "good" },
    });
    expect(result.revocation.authorities).toEqual([
      { subject: "CN=Bad", status: "revoked", reason: "superseded", revoked_at: AT.toISOString() },
    ]);
  });

  it("are not checked after three fetches", async () => {
    const [ocsp, crl, root] = [path("ocsp"), path("crl"), path("root")];
    const crlUrls = [lab.say(root, list([], lab.pki.root))];
    const middle = await issue({ issuer: lab.pki.root, subject: "Middle", ca: true, crlUrls });
    const urls = { ocspUrls: [lab.say(ocsp, 500)], crlUrls: [lab.say(crl, 500)] };
    const leaf = await lab.pki.issue({ dns: ["tls.example"], issuer: middle, ...urls });
    const result = await lab.check(leaf, { chain: [middle] });
    expect(lab.asked()).toHaveLength(3);
    expect(result.revocation).toMatchObject({ status: "unknown", authorities: [{ status: "unknown" }] });
    expect(result.limitations.join(" ")).toMatch(
      /an authority above the certificate is revoked could not be determined/,
    );
  });

  function stapledBy(authority: Issued, certificate: Issued): Uint8Array {
    return ocspResponse({ signer: authority, singles: [{ certificate, issuer: authority }] });
  }
});
