import { Compile } from "typebox/compile";
import { afterAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ssl as contract } from "#shared/tools/ssl.ts";
import { ssl } from "#probe-agent/tools/ssl.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { startTlsVariant, TLS_HOST, type TlsVariant } from "#test/servers/tls-variants.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { runTool } from "#test/support/tool.ts";

type Result = ResultOf<typeof contract>;
const schema = Compile(contract.result);
const pki = await createPki();
const zones = {
  [TLS_HOST]: { A: ["127.0.0.1"] },
  "two.example": { A: ["127.0.0.2", "127.0.0.1"] },
  "blocked.example": { A: ["10.0.0.1", "127.0.0.1"] },
  "private.example": { A: ["10.0.0.1"] },
};
const dnsServer = await startDnsServer({ zones });
afterAll(() => dnsServer.close());

async function run(port: number, host = TLS_HOST, timeoutMs = 20_000): Promise<Outcome<Result>> {
  const setting = { dnsServers: [dnsServer.address], roots: [pki.root.pem], timeoutMs };
  const { outcome } = await runTool(ssl, { host, port }, setting);
  if (outcome.status === "ok") {
    expect([...schema.Errors(outcome.data)]).toEqual([]);
    expect(JSON.parse(JSON.stringify(outcome.data))).toEqual(outcome.data);
  }
  return outcome;
}

async function check(variant: TlsVariant): Promise<Outcome<Result>> {
  const server = await startTlsVariant(variant, pki);
  try {
    return await run(server.port, TLS_HOST, 6000);
  } finally {
    await server.close();
  }
}

async function result(variant: TlsVariant): Promise<Result> {
  const outcome = await check(variant);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

function warningIds({ warnings }: Result): string[] {
  return warnings.map(({ id, severity }) => `${severity}:${id}`);
}

const trusted = { trusted: true, chain_trusted: true, hostname_match: true, trust_error: null, errors: [] };

describe("a good server", () => {
  it("is trusted and described", async () => {
    const data = await result("good");
    expect(data).toMatchObject({
      ...trusted,
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

describe("what a strict client refuses", () => {
  it.each([
    ["expired", "expired"],
    ["not_yet_valid", "not_yet_valid"],
    ["self_signed", "self_signed"],
    ["missing_intermediate", "missing_intermediate"],
    ["untrusted_root", "untrusted_root"],
    ["sha1", "weak_signature"],
    ["rsa1024", "weak_key"],
  ] as const)("the server %s is not trusted: %s", async (variant, word) => {
    const data = await result(variant);
    expect(data).toMatchObject({ trusted: false, chain_trusted: false, hostname_match: true, trust_error: word });
    expect(data.errors).toEqual([word]);
    expect(data).toMatchObject({
      chain_complete: word !== "missing_intermediate",
      missing_intermediate: word === "missing_intermediate",
    });
  });

  it("a certificate for another host is not trusted though its chain is", async () => {
    const mismatch = { trusted: false, chain_trusted: true, hostname_match: false, trust_error: "hostname_mismatch" };
    expect(await result("wrong_host")).toMatchObject(mismatch);
  });

  it("days left are negative once expired, floored", async () => {
    expect((await result("expired")).certificate.days_left).toBe(-11);
    expect((await result("expiring_soon")).certificate.days_left).toBe(5);
  });
});

describe("chains as sent", () => {
  it("in the wrong order are trusted and said to be so, the root too", async () => {
    const data = await result("wrong_order");
    expect(data).toMatchObject({ ...trusted, chain_ordered: false, contains_root: true });
    expect(data.chain.map(({ role, sent }) => [role, sent])).toEqual([
      ["leaf", true],
      ["root", true],
      ["intermediate", true],
    ]);
    expect(warningIds(data)).toEqual(["warning:chain_order", "info:root_sent"]);
  });

  it("with repeats and strangers show them as extra", async () => {
    const data = await result("duplicated");
    expect(data).toMatchObject({ ...trusted, chain_ordered: false, contains_root: false });
    expect(data.chain.map(({ role }) => role)).toEqual(["leaf", "extra", "intermediate", "extra", "root"]);
    expect(warningIds(data)).toEqual(["info:extra_certificate"]);
  });
});

describe("protocol versions", () => {
  it.each([
    ["all_versions", [true, true, true, true], ["warning:old_protocol", "warning:old_protocol"]],
    ["tls13_only", [false, false, false, true], []],
    ["tls12_only", [false, false, true, false], ["info:no_tls1_3"]],
    [
      "tls10_only",
      [true, false, false, false],
      ["critical:no_modern_protocol", "warning:old_protocol", "warning:no_aead"],
    ],
    ["cbc_only", [false, false, true, false], ["warning:no_aead", "info:no_tls1_3"]],
  ] as const)("of the server %s are told apart", async (variant, offered, warnings) => {
    const data = await result(variant);
    const { tls1_0, tls1_1, tls1_2, tls1_3 } = data.protocols;
    expect([tls1_0, tls1_1, tls1_2, tls1_3]).toEqual(offered);
    expect(warningIds(data)).toEqual(warnings);
  });
});

describe("warnings", () => {
  it("tell of an end that is near, by lifetime", async () => {
    expect(warningIds(await result("expiring_soon"))).toEqual(["critical:expires_soon"]);
    const short = { dns: [TLS_HOST], notBefore: daysFromNow(-4), notAfter: daysFromNow(2.5) };
    const server = await startTlsServer({ chain: [await pki.issue(short), pki.intermediate] });
    const outcome = await run(server.port);
    await server.close();
    expect(outcome.status === "ok" && warningIds(outcome.data)).toEqual([]);
  });

  it("tell of a missing staple where the certificate wants one", async () => {
    expect(warningIds(await result("must_staple"))).toEqual(["critical:no_staple"]);
    const stapled = await result("stapled");
    expect(warningIds(stapled)).toEqual(["critical:bad_staple"]);
    expect(stapled.ocsp).toMatchObject({ stapled: true, source: "staple", status: null, error: "malformed" });
  });
});

describe("handshakes that fail after the certificate", () => {
  it.each([
    ["client_certificate", "certificate_required"],
    ["client_certificate_tls12", "handshake_failure"],
    ["half_alert", "internal_error"],
    ["half_close", "closed"],
    ["half_reset", "reset"],
  ] as const)("still show it: %s", async (variant, reason) => {
    const data = await result(variant);
    expect(data).toMatchObject({ ...trusted, handshake_error: { reason } });
    expect(data.client_certificate_requested).toBe(variant.startsWith("client"));
  });

  it("also where the server then falls silent", async () => {
    expect(await result("half_hanging")).toMatchObject({
      handshake_error: { reason: "timeout" },
      protocol: null,
      protocols: { tls1_2: true },
    });
  });
});

describe("servers without a certificate", () => {
  it.each([
    ["plain_text", "plain_text"],
    ["garbage", "not_tls"],
    ["hanging", "timeout"],
    ["closing", "closed"],
    ["reset", "reset"],
    ["alert_handshake_failure", "handshake_failure"],
  ] as const)("fail in stage tls: %s", async (variant, reason) => {
    expect(await check(variant)).toMatchObject({ status: "failed", stage: "tls", source: "target", reason });
  });

  it("that are not there fail in stage connect", async () => {
    const server = await startTlsVariant("good", pki);
    await server.close();
    expect(await run(server.port)).toMatchObject({ status: "failed", stage: "connect", reason: "refused" });
  });

  it("whose name does not exist fail in stage dns", async () => {
    expect(await run(443, "nowhere.example")).toMatchObject({ status: "failed", stage: "dns", reason: "nxdomain" });
  });
});

describe("hosts and addresses", () => {
  it("an IP literal is matched against addresses and sends no SNI", async () => {
    const server = await startTlsServer({ chain: [await pki.issue({ ip: ["127.0.0.1"] }), pki.intermediate] });
    const outcome = await run(server.port, "127.0.0.1");
    await server.close();
    expect(outcome).toMatchObject({ status: "ok", data: { ...trusted, servername: null } });
    expect(server.servernames[0]).toBeNull();
  });

  it("the next address is tried where one refuses the connection", async () => {
    const server = await startTlsVariant("wrong_host", pki);
    const outcome = await run(server.port, "two.example");
    await server.close();
    expect(outcome).toMatchObject({ status: "ok", data: { ip: "127.0.0.1" } });
  });

  it("a forbidden address is shown and not contacted; alone it refuses the host", async () => {
    const server = await startTlsVariant("wrong_host", pki);
    const outcome = await run(server.port, "blocked.example");
    await server.close();
    const addresses = [
      { ip: "127.0.0.1", ip_version: 4, blocked: false },
      { ip: "10.0.0.1", ip_version: 4, blocked: true },
    ];
    expect(outcome).toMatchObject({ status: "ok", data: { ip: "127.0.0.1", addresses } });
    expect(await run(server.port, "private.example")).toEqual({ status: "refused" });
  });

  it("a server that speaks another application protocol is looked at all the same", async () => {
    expect(await result("other_alpn")).toMatchObject({ ...trusted, alpn: null });
  });
});

describe("web servers", () => {
  async function site(hsts: string | null, h2 = true): Promise<Result> {
    const leaf = await pki.issue({ dns: [TLS_HOST] });
    const server = await startHttpServer({
      tls: { ...identityOf(leaf, pki.intermediate), ciphers: "ECDHE+AESGCM:@SECLEVEL=0" },
      h2,
      handler: (_request, response) => {
        response.writeHead(200, hsts === null ? {} : { "strict-transport-security": hsts }).end("hello");
        return true;
      },
    });
    const outcome = await run(server.port);
    await server.close();
    if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
    return outcome.data;
  }

  it("with a year of HSTS earn an A+", async () => {
    const data = await site("max-age=31536000; includeSubDomains");
    expect(data).toMatchObject({
      grade: "A+",
      grade_caps: [],
      http_alpn: ["h2", "http/1.1"],
      hsts: { present: true, max_age_s: 31_536_000, include_subdomains: true, preload: false },
    });
  });

  it.each([
    [null, { present: false, value: null, max_age_s: null }, "info:no_hsts"],
    ["max-age=86400", { present: true, value: "max-age=86400", max_age_s: 86_400 }, "info:short_hsts"],
    ["max-age=31536000; max-age=1", { present: false, max_age_s: null }, "info:no_hsts"],
  ])("with the header %s earn an A", async (header, hsts, warning) => {
    const data = await site(header);
    expect(data).toMatchObject({ grade: "A", hsts, grade_caps: [{ grade: "A" }] });
    expect(warningIds(data)).toEqual([warning]);
  });

  it("without HTTP/2 say so", async () => {
    const leaf = await pki.issue({ dns: [TLS_HOST] });
    const server = await startTlsServer({ chain: [leaf, pki.intermediate], ALPNProtocols: ["http/1.1"] });
    const outcome = await run(server.port, TLS_HOST, 8000);
    await server.close();
    expect(outcome).toMatchObject({ status: "ok", data: { http_alpn: ["http/1.1"], hsts: null, grade: "A" } });
    const { limitations } = (outcome as { data: Result }).data;
    expect(limitations.join(" ")).toMatch(/Whether HSTS is sent could not be told/);
  });
});

describe("several locations", () => {
  it("agree by the certificate's fingerprint and compare handshakes", async () => {
    const data = await result("good");
    expect(contract.across?.agreeOn(data)).toBe(data.certificate.fingerprint_sha256);
    expect(contract.across?.measure(data)).toEqual({ handshake_ms: data.handshake_ms });
  });
});
