import { afterAll, describe, expect, it } from "vitest";
import { healthOn } from "#probe-agent/tools/health/health.ts";
import { ssl } from "#probe-agent/tools/ssl/ssl.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { ocspResponse } from "#test/servers/ocsp.ts";
import { createPki, daysFromNow, type Issued, type IssueOptions } from "#test/servers/pki.ts";
import { freePort } from "#test/support/free-port.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf } from "#test/support/tool.ts";

const HOST = "shop.example";
const pki = await createPki();
const stranger = await createPki({ name: "Stranger" });
const dns = await startDnsServer({ zones: { [HOST]: { A: ["127.0.0.1"] } } });
const answers = new Map<string, Uint8Array>();
const responder = await startHttpServer({
  handler: (_request, response, { path }) => {
    const answer = answers.get(path);
    if (answer === undefined) return false;
    response.end(answer);
    return true;
  },
});
afterAll(() => Promise.all([dns.close(), responder.close()]));

const issue = (options: Omit<IssueOptions, "issuer"> = {}): Promise<Issued> => pki.issue({ dns: [HOST], ...options });

async function withStatus(path: string, status: "good" | "revoked"): Promise<Issued> {
  const certificate = await issue({ ocspUrls: [`${responder.url}${path}`] });
  const issuer = pki.intermediate;
  const told = status === "good" ? {} : { status: { at: new Date("2026-02-03T04:05:06Z"), reason: 1 } };
  answers.set(path, ocspResponse({ signer: issuer, singles: [{ certificate, issuer, ...told }] }));
  return certificate;
}

/** What ssl and health say of one server. */
async function bothOf(leaf: Issued, ...chain: Issued[]) {
  const server = await startHttpServer({
    tls: { ...identityOf(leaf, ...chain), ciphers: "ECDHE+AESGCM:@SECLEVEL=0" },
    h2: true,
    handler: (_request, response) => {
      response.end("<!doctype html><title>Shop</title>");
      return true;
    },
  });
  const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };
  const health = healthOn({ http: await freePort(), https: server.port });
  try {
    const [one, other] = await Promise.all([
      resultOf(ssl, { host: HOST, port: server.port }, setting),
      resultOf(health, { url: `https://${HOST}:${server.port}/` }, setting),
    ]);
    return { ssl: one, health: other };
  } finally {
    await server.close();
  }
}

describe("ssl and health give one verdict on the same server", () => {
  it.each<[string, () => Promise<[Issued, ...Issued[]]>, string | null]>([
    ["a good certificate", async () => [await withStatus("/good", "good"), pki.intermediate], null],
    [
      "an expired one",
      async () => [await issue({ notBefore: daysFromNow(-90), notAfter: daysFromNow(-3.5) }), pki.intermediate],
      "expired",
    ],
    ["a self-signed one", async () => [await pki.issue({ dns: [HOST], issuer: null })], "self_signed"],
    [
      "a chain without its intermediate",
      async () => [await issue({ caIssuers: ["http://pki.example/intermediate.der"] })],
      "missing_intermediate",
    ],
    ["another name", async () => [await issue({ dns: ["other.example"] }), pki.intermediate], "hostname_mismatch"],
    ["a revoked one", async () => [await withStatus("/revoked", "revoked"), pki.intermediate], "revoked"],
    ["a weak key", async () => [await issue({ key: "rsa1024" }), pki.intermediate], "weak_key"],
    ["a SHA-1 signature", async () => [await issue({ hash: "SHA-1" }), pki.intermediate], "weak_signature"],
    [
      "an authority nobody knows",
      async () => [await stranger.issue({ dns: [HOST] }), stranger.intermediate],
      "untrusted_root",
    ],
  ])("%s", async (_what, make, error) => {
    const [leaf, ...chain] = await make();
    const { ssl: one, health } = await bothOf(leaf, ...chain);
    expect([one.trusted, one.trust_error]).toEqual([error === null, error]);
    const trust = health.categories.flatMap(({ checks }) => checks).find(({ id }) => id === "trust");
    expect([trust?.status, trust?.value]).toEqual(error === null ? ["pass", "trusted"] : ["fail", error]);
    expect(health.grade_caps.some(({ check }) => check === "trust")).toBe(error !== null);
    if (error === null) return;
    const [cause] = one.findings;
    expect(cause).toMatchObject({ id: error.replaceAll("_", "-"), severity: "critical" });
    const finding = health.findings.find(({ id }) => id === "trust");
    expect(finding).toMatchObject({ severity: "critical", how: cause?.how });
    expect(finding?.message).toContain(cause?.message);
    expect(one.warnings).toEqual(one.findings.map(({ message }) => message));
  });
});
