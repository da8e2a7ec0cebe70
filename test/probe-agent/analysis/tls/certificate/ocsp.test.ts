import { describe, expect, it } from "vitest";
import { encodeOcspRequest } from "#probe-agent/analysis/tls/certificate/ocsp-cert-id.ts";
import { evaluateOcsp, type OcspResult } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";
import { der, sequence } from "#test/servers/der.ts";
import { OCSP_SIGNING, ocspError, ocspResponse, type OcspOptions, type SingleOptions } from "#test/servers/ocsp.ts";
import { createPki, daysFromNow, type Issued, type KeyKind } from "#test/servers/pki.ts";
import { extension, parsed, publicKeyHash } from "#test/servers/signing.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const NOW = new Date();
const pki = await createPki();
const leaf = await pki.issue({ dns: ["leaf.test"], serial: "00ff01" });
const responder = await pki.issue({ subject: "Responder", eku: [OCSP_SIGNING] });
const issuer = pki.intermediate;

function judge(octets: Uint8Array, now = NOW): OcspResult {
  return evaluateOcsp(octets, { certificate: parsed(leaf), issuer: parsed(issuer), now });
}

/** Evaluates a response about the leaf. Its issuer signs it unless the options say otherwise. */
function about(single: Partial<SingleOptions>, options: Partial<OcspOptions> = {}): OcspResult {
  return judge(ocspResponse({ signer: issuer, singles: [{ certificate: leaf, issuer, ...single }], ...options }));
}

describe("a request (RFC 6960 section 4.1.1, RFC 5019 section 2.1.1)", () => {
  it("identifies the certificate by hashes of its issuer's name and key, and its serial number, without nonce", () => {
    const request = Buffer.from(encodeOcspRequest(parsed(leaf), parsed(issuer), "sha1")).toString("hex");
    const keyHash = Buffer.from(publicKeyHash(issuer, "sha1")).toString("hex");
    // OCSPRequest, TBSRequest, requestList, Request, CertID, then the hash's AlgorithmIdentifier.
    expect(request).toMatch(/^30..30..30..30..30..300906052b0e03021a05000414/);
    expect(request).toContain(`0414${keyHash}`);
    expect(request.endsWith("020300ff01")).toBe(true);
  });
});

describe("a valid response", () => {
  it("says good, with its times", () => {
    const thisUpdate = new Date("2026-03-01T10:00:00Z");
    const nextUpdate = new Date("2026-03-08T10:00:00Z");
    const octets = ocspResponse({
      signer: issuer,
      singles: [{ certificate: leaf, issuer, thisUpdate, nextUpdate }],
      producedAt: new Date("2026-03-01T10:30:00Z"),
    });
    expect(judge(octets, new Date("2026-03-04T00:00:00Z"))).toEqual({
      status: "good",
      thisUpdate,
      nextUpdate,
      producedAt: new Date("2026-03-01T10:30:00Z"),
      revokedAt: null,
      reason: null,
      signatureValid: true,
      timestamps: null,
      error: null,
    });
  });

  it.each([
    [undefined, null],
    [0, "unspecified"],
    [1, "key_compromise"],
    [4, "superseded"],
    [6, "certificate_hold"],
    [10, "aa_compromise"],
    [99, "unspecified"],
  ])("says revoked, when, and why: reason %s", (code, word) => {
    const at = new Date("2026-02-03T04:05:06Z");
    const status = code === undefined ? { at } : { at, reason: code };
    expect(about({ status })).toMatchObject({ status: "revoked", revokedAt: at, reason: word, error: null });
  });

  it("says that the responder does not know the certificate", () => {
    expect(about({ status: "unknown" })).toMatchObject({ status: "unknown", signatureValid: true, error: null });
  });

  it.each(["sha1", "sha256", "sha384", "sha512"] as const)("identifies the certificate by %s", (hash) => {
    expect(about({ hash })).toMatchObject({ status: "good", error: null });
  });

  it("can have entries for other certificates; of several for this one the newest counts", () => {
    const other = { certificate: responder, issuer, status: { at: NOW } };
    const old = { certificate: leaf, issuer, status: { at: NOW }, thisUpdate: daysFromNow(-2) };
    const fresh = { certificate: leaf, issuer };
    expect(judge(ocspResponse({ signer: issuer, singles: [other, old, fresh] })).status).toBe("good");
    expect(judge(ocspResponse({ signer: issuer, singles: [fresh, { ...old, thisUpdate: NOW }] })).status).toBe(
      "revoked",
    );
  });

  it("can omit nextUpdate, and is then valid for a day", () => {
    expect(about({ nextUpdate: null }).error).toBeNull();
    expect(about({ nextUpdate: null, thisUpdate: daysFromNow(-2) }).error).toBe("stale");
  });

  it("can have unknown extensions that are not critical, and a nonce that was not sent", () => {
    const nonce = extension("1.3.6.1.5.5.7.48.1.2", der(0x04, Buffer.alloc(40_000)));
    const unknown = extension("1.2.3.4", der(0x05));
    expect(about({ extensions: [unknown] }, { extensions: [nonce, unknown] }).error).toBeNull();
    const critical = extension("1.2.3.4", der(0x05), true);
    expect(about({ extensions: [critical] }).error).toBe("unknown_critical_extension");
    expect(about({}, { extensions: [critical] }).error).toBe("unknown_critical_extension");
  });
});

describe("a signer (RFC 6960 section 4.2.2.2)", () => {
  it("is the issuer, named by name or key", () => {
    expect(about({}, { byKey: true }).error).toBeNull();
  });

  it("is a delegate of the issuer, named by name or key", () => {
    const delegated = { signer: responder, certificates: [responder] };
    expect(about({}, delegated)).toMatchObject({ status: "good", signatureValid: true, error: null });
    expect(about({}, { ...delegated, byKey: true }).error).toBeNull();
  });

  async function delegate(options: Parameters<typeof pki.issue>[0]): Promise<OcspResult["error"]> {
    const signer = await pki.issue({ subject: "Delegate", eku: [OCSP_SIGNING], ...options });
    return about({}, { signer, certificates: [signer] }).error;
  }

  it("is not a delegate without the purpose, outside its validity, of another issuer, or with a weak key", async () => {
    const stranger = await createPki({ name: "Stranger" });
    const namesake = await createPki();
    expect(await delegate({})).toBeNull();
    expect(await delegate({ eku: ["1.3.6.1.5.5.7.3.1"] })).toBe("unauthorized_signer");
    expect(await delegate({ eku: null })).toBe("unauthorized_signer");
    expect(await delegate({ keyUsage: 0x20 })).toBe("unauthorized_signer");
    expect(await delegate({ notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) })).toBe("unauthorized_signer");
    expect(await delegate({ notBefore: daysFromNow(1) })).toBe("unauthorized_signer");
    expect(await delegate({ issuer: pki.root })).toBe("unauthorized_signer");
    expect(await delegate({ issuer: stranger.intermediate })).toBe("unauthorized_signer");
    expect(await delegate({ issuer: namesake.intermediate })).toBe("unauthorized_signer");
    expect(await delegate({ key: "rsa1024" })).toBe("unauthorized_signer");
    expect(await delegate({ issuer: null })).toBe("unauthorized_signer");
    expect(await delegate({ hash: "SHA-1" })).toBe("unauthorized_signer");
    expect(await delegate({ issuer: { ...issuer, name: "CN=Same key, another name" } })).toBe("unauthorized_signer");
  });

  it("is not a delegate whose certificate is missing in the response", () => {
    expect(about({}, { signer: responder })).toMatchObject({ signatureValid: false, error: "unauthorized_signer" });
  });

  it("is not another authority with the issuer's name", async () => {
    const namesake = await createPki();
    const forged = about({ status: { at: NOW } }, { signer: namesake.intermediate, responder: issuer });
    expect(forged).toMatchObject({ status: "revoked", signatureValid: false, error: "bad_signature" });
  });

  it.each<KeyKind>(["rsa2048", "p256", "p384", "p521", "ed25519"])("can have a key of type %s", async (key) => {
    const signer = await pki.issue({ subject: "Signer", eku: [OCSP_SIGNING], key });
    const hashes = key === "ed25519" ? (["sha256"] as const) : (["sha1", "sha256", "sha384", "sha512"] as const);
    for (const hash of hashes) {
      const verdict = about({}, { signer, certificates: [signer], signing: { hash } });
      expect(verdict.error, hash).toBeNull();
    }
    if (key !== "rsa2048") return;
    expect(about({}, { signer, certificates: [signer], signing: { pss: true } }).error).toBeNull();
    expect(about({}, { signer, certificates: [signer], signing: { pss: true, hash: "sha512" } }).error).toBeNull();
  });
});

describe("an invalid response", () => {
  it.each([
    ["has expired (a replay)", { thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-2) }, "stale"],
    ["is not yet valid", { thisUpdate: daysFromNow(1) }, "not_yet_valid"],
  ] as const)("%s", (_what, single, error) => {
    expect(about(single)).toMatchObject({ status: "good", signatureValid: true, error });
  });

  it("has dates that are wrong by more than five minutes, because clocks can differ by that much", () => {
    const minutes = (count: number): Date => daysFromNow(count / 1440);
    expect(about({ thisUpdate: minutes(4) }).error).toBeNull();
    expect(about({ nextUpdate: minutes(-4) }).error).toBeNull();
    expect(about({ nextUpdate: minutes(-7) }).error).toBe("stale");
  });

  it("is about another certificate, or a certificate of another issuer", async () => {
    const twin: Issued = await pki.issue({ dns: ["leaf.test"], serial: "00ff01", issuer: pki.root });
    expect(about({ certificate: responder })).toMatchObject({ status: null, error: "other_certificate" });
    expect(about({ certificate: twin, issuer: pki.root })).toMatchObject({ status: null, error: "other_certificate" });
    const namesake = (await createPki()).intermediate;
    expect(about({ issuer: namesake })).toMatchObject({ status: null, error: "other_certificate" });
    const renamed = { ...issuer, name: "CN=Same key, another name" };
    const elsewhere = await pki.issue({ dns: ["leaf.test"], serial: "00ff01", issuer: renamed });
    expect(about({ certificate: elsewhere })).toMatchObject({ status: null, error: "other_certificate" });
  });

  it.each([
    [1, "malformed_request"],
    [2, "internal_error"],
    [3, "try_later"],
    [4, "unknown_status"],
    [5, "sig_required"],
    [6, "unauthorized"],
    [99, "unknown_status"],
  ])("is an error alone: %s", (status, error) => {
    expect(judge(ocspError(status))).toMatchObject({ status: null, signatureValid: null, error });
  });

  it("with any bit changed is never good and never throws", () => {
    const good = ocspResponse({ signer: issuer, singles: [{ certificate: leaf, issuer }] });
    for (let at = 0; at < good.length * 8; at += 3) {
      const changed = Uint8Array.from(good);
      changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
      const { status, error } = judge(changed);
      expect(status === "good" && error === null, `bit ${at}`).toBe(false);
    }
  });

  it("truncated anywhere is malformed", () => {
    const good = ocspResponse({ signer: issuer, singles: [{ certificate: leaf, issuer }] });
    for (let length = 0; length < good.length; length += 1) {
      expect(judge(good.subarray(0, length)).error, `${length} octets`).toBe("malformed");
    }
  });

  it.each([
    ["nothing", new Uint8Array()],
    ["text", Buffer.from("<html>not here</html>")],
    ["a success without a response", ocspError(0)],
    ["nested sequences", sequence(sequence(sequence(sequence())))],
    ["zeros", Buffer.alloc(5000)],
    ["a huge length", Buffer.from("3084ffffffff", "hex")],
  ])("is no response: %s", (_what, octets) => {
    expect(judge(octets)).toMatchObject({ status: null, error: "malformed" });
  });

  it("is longer than 64 KB", () => {
    expect(judge(Buffer.alloc(70_000, 0x30)).error).toBe("too_large");
  });

  it("with hundreds of entries for this certificate is cheap to check", () => {
    const single = { certificate: leaf, issuer };
    const octets = ocspResponse({ signer: issuer, singles: Array.from({ length: 480 }, () => single) });
    const before = cpuTime();
    expect(judge(octets).status).toBe("good");
    expect(cpuTime() - before).toBeLessThan(2000);
  });
});
