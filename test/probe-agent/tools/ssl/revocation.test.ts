import { afterAll, describe, expect, it } from "vitest";
import { certificateList } from "#test/servers/crl.ts";
import { ocspError, ocspResponse, type OcspOptions, type SingleOptions } from "#test/servers/ocsp.ts";
import { createPki, daysFromNow, type Issued } from "#test/servers/pki.ts";
import { findingIds } from "#test/support/ssl-bench.ts";
import { startStatusLab, type SslResult } from "#test/support/ssl-status.ts";
import { endsBy } from "#test/support/deadlines.ts";

const lab = await startStatusLab();
afterAll(() => lab.close());
const issuer = lab.pki.intermediate;
const AT = new Date("2026-02-03T04:05:06Z");
const REVOKED = { status: { at: AT, reason: 1 } } as const;
const TRUSTED = { trusted: true, chain_trusted: true, trust_error: null };

function response(certificate: Issued, single: Partial<SingleOptions> = {}, options: Partial<OcspOptions> = {}) {
  return ocspResponse({ signer: issuer, singles: [{ certificate, issuer, ...single }], ...options });
}

let count = 0;
/** Returns an unused path, because lists are cached by URL. */
function path(kind: string): string {
  count += 1;
  return `/${kind}/${count}`;
}

describe("a stapled response", () => {
  it("that is valid gives the status, and nothing else is asked", async () => {
    const leaf = await lab.issue({
      ocspUrls: [lab.say("/ocsp", 500)],
      crlUrls: [lab.say("/crl", 500)],
      mustStaple: true,
    });
    const result = await lab.check(leaf, { staple: response(leaf) });
    expect(result).toMatchObject({ ...TRUSTED, revocation: { status: "good", method: "staple", crl: null } });
    expect(result.ocsp).toMatchObject({
      stapled: true,
      source: "staple",
      status: "good",
      responder_url: null,
      signature_valid: true,
      error: null,
    });
    expect(Date.parse(result.ocsp.next_update ?? "")).toBeGreaterThan(Date.now());
    expect(lab.asked()).toEqual([]);
    expect(findingIds(result)).toEqual([]);
    expect(result.limitations.join(" ")).not.toMatch(/Whether the certificate is revoked/);
  });

  it("that says revoked makes the server untrusted and caps the grade", async () => {
    const leaf = await lab.issue();
    const result = await lab.check(leaf, { staple: response(leaf, REVOKED) });
    expect(result).toMatchObject({
      trusted: false,
      chain_trusted: false,
      hostname_match: true,
      trust_error: "revoked",
      findings: [
        { id: "revoked", severity: "critical", message: "The certificate was revoked on 2026-02-03 (key compromise)." },
      ],
      revocation: { status: "revoked", method: "staple", reason: "key_compromise", revoked_at: AT.toISOString() },
      grade: "T",
      grade_caps: [{ grade: "T", reason: "The certificate is revoked." }],
    });
  });

  it("ranks as more severe than a name mismatch and less severe than expiry", async () => {
    const leaf = await lab.issue();
    const wrong = await lab.check(leaf, { staple: response(leaf, REVOKED), host: "other.example" });
    expect(wrong).toMatchObject({ trust_error: "revoked" });
    expect(findingIds(wrong)).toEqual(["critical:revoked", "critical:hostname-mismatch"]);
    const old = await lab.issue({ notBefore: daysFromNow(-20), notAfter: daysFromNow(-1) });
    const expired = await lab.check(old, { staple: response(old, REVOKED) });
    expect(expired).toMatchObject({ trust_error: "expired" });
    expect(findingIds(expired)).toEqual(["critical:expired", "critical:revoked"]);
  });

  it.each([
    ["has expired", { thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-2) }, {}, "stale-staple", "stale"],
    ["is signed by another authority", {}, { signer: lab.pki.root }, "bad-staple", "unauthorized_signer"],
  ])("that %s is reported, and the responder is asked", async (_what, single, options, id, error) => {
    const at = path("ocsp");
    const leaf = await lab.issue({ ocspUrls: [lab.say(at, 500)] });
    lab.say(at, response(leaf));
    const result = await lab.check(leaf, { staple: response(leaf, single, options) });
    expect(result).toMatchObject({ ...TRUSTED, revocation: { status: "good", method: "ocsp" } });
    expect(result.ocsp).toMatchObject({ stapled: true, source: "responder", status: "good", error: null });
    expect(findingIds(result)).toEqual([`warning:${id}`]);
    lab.say(at, 500);
    const alone = await lab.check(leaf, { staple: response(leaf, single, options) });
    expect(alone.ocsp).toMatchObject({ source: "staple", status: "good", error });
    expect(alone.revocation).toMatchObject({ status: "unknown", method: null });
  });

  it("that is for another certificate, unknown or missing is more severe if the certificate requires one", async () => {
    const leaf = await lab.issue({ mustStaple: true });
    const other = await lab.issue();
    expect(findingIds(await lab.check(leaf, { staple: response(other) }))).toEqual(["critical:bad-staple"]);
    expect(findingIds(await lab.check(other, { staple: response(other, { status: "unknown" }) }))).toEqual([
      "warning:bad-staple",
    ]);
    const stale = response(leaf, { thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-2) });
    expect(findingIds(await lab.check(leaf, { staple: stale }))).toEqual(["critical:stale-staple"]);
    expect(findingIds(await lab.check(leaf))).toEqual(["critical:no-staple"]);
  });
});

describe("the responder", () => {
  async function asked(saying: (leaf: Issued) => Parameters<typeof lab.say>[1]): Promise<SslResult> {
    const at = path("ocsp");
    const leaf = await lab.issue({ ocspUrls: ["ldap://x.test/", lab.say(at, 500)] });
    lab.say(at, saying(leaf));
    return await lab.check(leaf);
  }

  it("is asked by POST if nothing is stapled", async () => {
    const result = await asked((leaf) => response(leaf));
    expect(lab.asked()).toEqual([expect.stringMatching(/^POST \/ocsp\/\d+$/)]);
    expect(result).toMatchObject({ ...TRUSTED, ocsp: { stapled: false, source: "responder", status: "good" } });
    expect(result.ocsp.responder_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ocsp\//);
    expect(result.revocation).toMatchObject({ status: "good", method: "ocsp", reason: null, revoked_at: null });
  });

  it("reports that the certificate is revoked", async () => {
    const result = await asked((leaf) => response(leaf, REVOKED));
    expect(result).toMatchObject({
      trust_error: "revoked",
      grade: "T",
      revocation: { status: "revoked", method: "ocsp", reason: "key_compromise", revoked_at: AT.toISOString() },
    });
  });

  it("is asked by GET if it refuses POST (RFC 6960 appendix A.1)", async () => {
    const result = await asked((leaf) => (method) => (method === "GET" ? response(leaf) : 405));
    expect(result.revocation).toMatchObject({ status: "good", method: "ocsp" });
    expect(lab.asked()).toEqual([
      expect.stringMatching(/^POST /),
      expect.stringMatching(/^GET \/ocsp\/\d+\/MF?.{40,}/),
    ]);
  });

  it("is asked with SHA-256 if it refuses SHA-1", async () => {
    const sha256 = "608648016503040201";
    const result = await asked(
      (leaf) => (_method, body) =>
        Buffer.from(body).toString("hex").includes(sha256) ? response(leaf, { hash: "sha256" }) : ocspError(6),
    );
    expect(result.revocation).toMatchObject({ status: "good", method: "ocsp" });
    expect(lab.asked()).toHaveLength(2);
  });

  it.each([
    ["garbage", () => Buffer.alloc(3000, 0xa7), "malformed"],
    ["a page", () => Buffer.from("<!doctype html><title>x</title>"), "malformed"],
    ["more than 64 KB", () => Buffer.alloc(70_000), "too_large"],
    ["try later", () => ocspError(3), "try_later"],
    [
      "an old answer",
      (leaf: Issued) => response(leaf, { thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-2) }),
      "stale",
    ],
    ["a redirect to a private address", () => ({ redirect: "http://10.0.0.1/ocsp" }), "target_not_allowed"],
    ["nothing", () => 404, "http_404"],
  ] as const)("that answers with %s leaves the status unknown and trust unchanged", async (_what, saying, error) => {
    const result = await asked((leaf) => saying(leaf));
    expect(result).toMatchObject({ ...TRUSTED, revocation: { status: "unknown", method: null } });
    expect(result.ocsp).toMatchObject({ error });
    expect(result.limitations.join(" ")).toContain(`OCSP responder: ${error}`);
  });

  it("that never answers is given up after four seconds, and the list is still used", async () => {
    const at = path("crl");
    const leaf = await lab.issue({
      ocspUrls: [lab.say("/silent", "silence")],
      crlUrls: [lab.say(at, certificateList({ issuer }))],
    });
    const result = await endsBy(4000, () => lab.check(leaf));
    expect(result.ocsp).toMatchObject({ source: null, status: null, error: "timeout" });
    expect(result.revocation).toMatchObject({ status: "good", method: "crl" });
  });

  it("at a private address is never contacted", async () => {
    const result = await lab.check(await lab.issue({ ocspUrls: ["http://192.168.1.1/ocsp"] }));
    expect(result.ocsp).toMatchObject({ responder_url: "http://192.168.1.1/ocsp", error: "target_not_allowed" });
  });
});

describe("no responder and no list is asked", () => {
  it("about a chain without a trusted root, because its maker chose the URLs", async () => {
    const stranger = await createPki({ name: "Stranger" });
    const urls = { ocspUrls: [lab.say(path("ocsp"), 500)], crlUrls: [lab.say(path("crl"), 500)] };
    const leaf = await stranger.issue({ dns: ["tls.example"], ...urls });
    const result = await lab.check(leaf, { chain: [stranger.intermediate] });
    expect(result).toMatchObject({ trust_error: "untrusted_root", revocation: { status: "unknown" } });
    expect(lab.asked()).toEqual([]);
    expect(result.limitations.join(" ")).toMatch(/its chain does not lead to a trusted root/);
  });

  it("about a certificate that has expired, or whose issuer was not sent", async () => {
    const urls = { ocspUrls: [lab.say(path("ocsp"), 500)], crlUrls: [lab.say(path("crl"), 500)] };
    const expired = await lab.issue({ ...urls, notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) });
    expect((await lab.check(expired)).limitations.join(" ")).toMatch(/authorities no longer publish its status/);
    expect(lab.asked()).toEqual([]);
    const alone = await lab.check(await lab.issue(urls), { chain: [] });
    expect(alone.limitations.join(" ")).toMatch(/its issuer's certificate is unavailable/);
    expect(lab.asked()).toEqual([]);
  });

  it("over https or ldap, or if the certificate names none", async () => {
    const leaf = await lab.issue({ ocspUrls: ["https://127.0.0.1:9/"], crlUrls: ["ldap://127.0.0.1/x"] });
    const result = await lab.check(leaf);
    expect(result.revocation).toMatchObject({ status: "unknown", crl: null });
    expect(result.certificate.ocsp_urls).toEqual(["https://127.0.0.1:9/"]);
    expect((await lab.check(await lab.issue())).limitations.join(" ")).toMatch(/names no OCSP responder/);
  });
});
