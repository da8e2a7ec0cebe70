import { afterAll, describe, expect, it } from "vitest";
import { ssl as contract } from "#shared/tools/ssl/contract.ts";
import { SSL_ADVICE } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { longestLifetimeDays } from "#probe-agent/analysis/tls/ssl/findings.ts";
import { daysFromNow } from "#test/servers/pki.ts";
import { TLS_HOST } from "#test/servers/tls-variants.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { startSslBench, TRUSTED, findingIds } from "#test/support/ssl-bench.ts";

const bench = await startSslBench();
const { pki, run, result } = bench;
afterAll(() => bench.close());

describe("a good server", () => {
  it("is trusted and described", async () => {
    const data = await result("good");
    expect(data).toMatchObject({
      ...TRUSTED,
      host: TLS_HOST,
      ip: "127.0.0.1",
      ip_version: 4,
      servername: TLS_HOST,
      protocol: "TLSv1.3",
      cipher: "TLS_AES_256_GCM_SHA384",
      chain_complete: true,
      chain_ordered: true,
      contains_root: false,
      missing_intermediate: false,
      client_certificate_requested: false,
      handshake_error: null,
      protocols: { ssl3: false, tls1_0: false, tls1_1: false, tls1_2: true, tls1_3: true },
      cipher_order: "server",
      dh_bits: null,
      compression: false,
      secure_renegotiation: true,
      fallback_scsv: true,
      http_alpn: [],
      hsts: null,
      other_certificates: [],
      ocsp: { stapled: false, status: null, responder_url: null, error: null },
      revocation: { status: "unknown", method: null, crl: null },
      ct: { count: 0, scts: [], logs: 0, operators: null },
      dane: { tlsa: [], tlsa_total: 0, valid: null, dnssec: null },
      caa: [],
      caa_allows_issuer: true,
      grade: "A+",
      grade_caps: [],
      score: 96,
      scores: { protocol: 100, key_exchange: 100, cipher: 90 },
      warnings: [],
    });
    expect(data.certificate).toMatchObject({
      subject: `CN=${TLS_HOST}`,
      issuer: "CN=Test Intermediate",
      san: [TLS_HOST],
      key: { type: "EC", bits: 256, curve: "P-256" },
      signature_algorithm: "ecdsa-with-SHA256",
      days_left: 88,
      lifetime_days: 90,
      self_signed: false,
      must_staple: false,
      key_usage: ["digitalSignature"],
      ext_key_usage: ["serverAuth"],
    });
    expect(data.chain.map(({ position, role, sent }) => [position, role, sent])).toEqual([
      [0, "leaf", true],
      [1, "intermediate", true],
      [null, "root", false],
    ]);
    expect(data.limitations.length).toBeGreaterThan(0);
  });
});

describe("certificates that a strict client refuses", () => {
  it.each([
    // The other words are those of trust-verdict.test.ts.
    ["not_yet_valid", "not_yet_valid"],
    ["missing_intermediate", "missing_intermediate"],
    ["authority", "wrong_usage"],
  ] as const)("the server %s is not trusted: %s", async (variant, word) => {
    const data = await result(variant);
    expect(data).toMatchObject({ trusted: false, chain_trusted: false, hostname_match: true, trust_error: word });
    expect(findingIds(data)).toContain(`critical:${word.replaceAll("_", "-")}`);
    expect(data.findings.filter(({ id }) => !(id in SSL_ADVICE))).toHaveLength(1);
    expect(data).toMatchObject({
      chain_complete: word !== "missing_intermediate",
      missing_intermediate: word === "missing_intermediate",
    });
  });

  it("a certificate that breaks a form rule is not trusted, and the message names rule and client", async () => {
    const { findings } = await result("authority");
    expect(findings).toContainEqual(
      expect.objectContaining({
        id: "certificate-form",
        severity: "critical",
        message: "Firefox refuses the server's certificate: it is a CA certificate (cA is TRUE).",
      }),
    );
  });

  it("a certificate that only strict clients refuse is trusted, and those clients are named", async () => {
    const data = await result("no_key_ids");
    expect(data).toMatchObject({ ...TRUSTED, grade: "A", grade_caps: [], score: 96 });
    expect(data.findings).toMatchObject([
      {
        id: "strict-clients",
        severity: "warning",
        message:
          "Python 3.13 and later (by default) and OpenSSL with -x509_strict refuse this chain: the server's certificate " +
          "has no authority key identifier (AKI).",
      },
    ]);
  });

  it("a certificate for another host is not trusted although its chain is", async () => {
    const mismatch = { trusted: false, chain_trusted: true, hostname_match: false, trust_error: "hostname_mismatch" };
    expect(await result("wrong_host")).toMatchObject(mismatch);
  });

  it("days left are rounded down and negative once expired", async () => {
    expect((await result("expired")).certificate.days_left).toBe(-11);
    expect((await result("expiring_soon")).certificate.days_left).toBe(5);
  });
});

describe("chains as sent", () => {
  it("in the wrong order are trusted, and findings report the order and the root", async () => {
    const data = await result("wrong_order");
    expect(data).toMatchObject({ ...TRUSTED, chain_ordered: false, contains_root: true });
    expect(data.chain.map(({ role, sent }) => [role, sent])).toEqual([
      ["leaf", true],
      ["root", true],
      ["intermediate", true],
    ]);
    expect(findingIds(data)).toEqual(["warning:chain-order", "info:root-sent"]);
  });

  it("with a useless cross-signed certificate first are trusted, and clients that refuse them are named", async () => {
    const data = await result("cross_signed");
    expect(data).toMatchObject({ ...TRUSTED, chain_complete: true });
    expect(findingIds(data)).toContain("warning:path-building");
    const { message } = data.findings.find(({ id }) => id === "path-building") ?? {};
    expect(message).toMatch(/refuse the chain.*OpenSSL \(curl.*GnuTLS .*sent at position 1/);
  });

  it("without the issuer's certificate have an untrusted authority or lack an intermediate", async () => {
    const data = await result("unknown_issuer");
    expect(data).toMatchObject({
      trusted: false,
      trust_error: "untrusted_root",
      chain_complete: false,
      missing_intermediate: false,
    });
    expect(findingIds(data)).toEqual(["critical:untrusted-root", "info:issuer-unknown"]);
    expect(data.findings[1]?.message).toContain("or its intermediate certificate is missing");
    expect(findingIds(await result("missing_intermediate"))).toEqual(["critical:missing-intermediate"]);
    expect(findingIds(await result("untrusted_root"))).toEqual(["critical:untrusted-root", "info:root-sent"]);
  });

  it("with repeated and unrelated certificates show them as extra", async () => {
    const data = await result("duplicated");
    expect(data).toMatchObject({ ...TRUSTED, chain_ordered: false, contains_root: false });
    expect(data.chain.map(({ role }) => role)).toEqual(["leaf", "extra", "intermediate", "extra", "root"]);
    expect(findingIds(data)).toEqual(["info:extra-certificate"]);
  });
});

describe("protocol versions", () => {
  it.each([
    ["all_versions", [true, true, true, true], ["warning:old-protocol", "warning:old-protocol"]],
    ["tls13_only", [false, false, false, true], []],
    ["tls12_only", [false, false, true, false], ["info:no-tls1-3"]],
    [
      "tls10_only",
      [true, false, false, false],
      ["critical:no-modern-protocol", "warning:old-protocol", "warning:no-aead"],
    ],
    ["cbc_only", [false, false, true, false], ["warning:no-aead", "info:no-tls1-3"]],
  ] as const)("of the server %s are distinguished", async (variant, offered, warnings) => {
    const data = await result(variant);
    const { tls1_0, tls1_1, tls1_2, tls1_3 } = data.protocols;
    expect([tls1_0, tls1_1, tls1_2, tls1_3]).toEqual(offered);
    expect(findingIds(data)).toEqual(warnings);
  });
});

describe("warnings", () => {
  it("report that a certificate expires soon, relative to its lifetime", async () => {
    expect(findingIds(await result("expiring_soon"))).toEqual(["warning:expires-soon"]);
    const short = { dns: [TLS_HOST], notBefore: daysFromNow(-4), notAfter: daysFromNow(3.5) };
    const server = await startTlsServer({ chain: [await pki.issue(short), pki.intermediate] });
    const outcome = await run(server.port);
    await server.close();
    expect(outcome.status === "ok" && findingIds(outcome.data)).toEqual([]);
  });

  it("report a lifetime above the limit for public certificates at the date of issue", async () => {
    const longest = longestLifetimeDays(daysFromNow(-1));
    for (const [days, ids] of [
      [longest - 1, []],
      [longest + 2, ["info:long-lifetime"]],
    ] as const) {
      const life = { dns: [TLS_HOST], notBefore: daysFromNow(-1), notAfter: daysFromNow(days) };
      const server = await startTlsServer({ chain: [await pki.issue(life), pki.intermediate] });
      const outcome = await run(server.port);
      await server.close();
      const found = outcome.status === "ok" ? findingIds(outcome.data) : [];
      expect(found.filter((id) => id.endsWith("long-lifetime"))).toEqual(ids);
    }
  });

  it("report a missing stapled response if the certificate requires one", async () => {
    expect(findingIds(await result("must_staple"))).toEqual(["critical:no-staple"]);
    const stapled = await result("stapled");
    expect(findingIds(stapled)).toEqual(["critical:bad-staple"]);
    expect(stapled.ocsp).toMatchObject({ stapled: true, source: "staple", status: null, error: "malformed" });
  });
});

describe("several locations", () => {
  it("agree by the certificate's fingerprint and compare handshakes", async () => {
    const data = await result("good");
    expect(contract.across?.agreeOn(data)).toBe(data.certificate.fingerprint_sha256);
    expect(contract.across?.measure(data)).toEqual({ handshake_ms: data.handshake_ms });
  });
});
