import { afterAll, describe, expect, it } from "vitest";
import { monitorSsl } from "#probe-agent/monitor-checks/monitor-ssl.ts";
import { startDeafServer } from "#test/servers/deaf.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { ocspResponse } from "#test/servers/ocsp.ts";
import { createPki, daysFromNow, type Issued, type IssueOptions } from "#test/servers/pki.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startTlsServer, type TlsServerOptions } from "#test/servers/tls.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";

const HOST = "shop.example";
/** A name with two addresses. */
const TWO = "two.example";
const pki = await createPki();
const dns = await startDnsServer({ zones: { [HOST]: { A: ["127.0.0.1"] }, [TWO]: { A: ["127.0.0.1", "127.0.0.2"] } } });
afterAll(() => dns.close());
const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };
const issue = (options: Omit<IssueOptions, "issuer"> = {}) => pki.issue({ dns: [HOST], ...options });

/** Checks a server with the certificate. */
async function check(leaf: Issued, options: Partial<TlsServerOptions> = {}, given: object = {}) {
  const server = await startTlsServer({ chain: [leaf, pki.intermediate], ...options });
  try {
    return await verdictOf(monitorSsl, { host: HOST, port: server.port, ...given }, setting);
  } finally {
    await server.close();
  }
}

describe("a TLS server", () => {
  it("is up with a trusted certificate, whose fingerprint is reported", async () => {
    const result = await check(await issue());
    expect(result).toMatchObject({ verdict: "up", fault: null, http_status: null, whole: null });
    expect(result.certificate_fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it("is described for the daily look: certificate, chain and verdict, without a survey of versions", async () => {
    const leaf = await issue();
    const { whole, certificate_fingerprint: fingerprint } = await check(leaf, {}, { always_whole: true });
    expect(whole).toMatchObject({
      host: HOST,
      certificate: { fingerprint_sha256: fingerprint, san: [HOST] },
      chain: [{ role: "leaf" }, { role: "intermediate", sent: true }, { role: "root", sent: false }],
      trusted: true,
      trust_error: null,
    });
    expect(whole).not.toHaveProperty("ciphers");
  });

  it.each(["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"] as const)("names %s as the newest version", async (version) => {
    const options = { minVersion: "TLSv1", maxVersion: version } as const;
    const { verdict, whole } = await check(await issue(), options, { always_whole: true });
    expect({ verdict, whole }).toMatchObject({ verdict: "up", whole: { protocol: version } });
  });

  it.each([
    ["expired", { notAfter: daysFromNow(-2) }, /^The certificate expired on /],
    ["not_yet_valid", { notBefore: daysFromNow(2) }, /is not valid before/],
    ["hostname_mismatch", { dns: ["other.example"] }, /^The certificate is for other.example, not for shop.example/],
  ])("is down with a certificate that is %s", async (reason, options, message) => {
    const { verdict, fault } = await check(await issue(options));
    expect({ verdict, ...fault }).toMatchObject({ verdict: "down", stage: "tls", reason });
    expect(fault?.message).toMatch(message);
  });

  it("of a name with several addresses is named by the one whose certificate is not trusted", async () => {
    const expired = await issue({ dns: [TWO], notAfter: daysFromNow(-2) });
    const { fault } = await check(expired, {}, { host: TWO });
    expect(fault?.message).toMatch(/^at 127\.0\.0\.1, one of 2 addresses: The certificate expired on /);
  });

  it("is down with a certificate of an unknown issuer", async () => {
    const other = await createPki({ name: "Other" });
    const leaf = await other.issue({ dns: [HOST] });
    const { fault } = await check(leaf, { chain: [leaf, other.intermediate] });
    expect(fault).toMatchObject({ stage: "tls", reason: "untrusted_root" });
  });

  it("is down with a revoked certificate, also if it was good until now", async () => {
    const issuer = pki.intermediate;
    const status: { revoked?: { at: Date; reason: number } } = {};
    let asked = 0;
    const leaf: { value?: Issued } = {};
    const responder = await startHttpServer({
      handler: (_request, response) => {
        asked += 1;
        const { value: certificate } = leaf;
        if (certificate === undefined) return false;
        const single = { certificate, issuer, ...(status.revoked === undefined ? {} : { status: status.revoked }) };
        response.end(ocspResponse({ signer: issuer, singles: [single] }));
        return true;
      },
    });
    leaf.value = await issue({ ocspUrls: [`${responder.url}/ocsp`] });
    expect((await check(leaf.value)).verdict).toBe("up");
    expect((await check(leaf.value)).verdict).toBe("up");
    // The answer counts for an hour: a frequent check does not ask each time.
    expect(asked).toBe(1);
    status.revoked = { at: new Date(), reason: 1 };
    const { fault, whole } = await check(leaf.value, {}, { always_whole: true });
    await responder.close();
    expect(fault).toMatchObject({ stage: "tls", reason: "revoked" });
    expect(whole).toMatchObject({ trusted: false, trust_error: "revoked" });
  });

  it("that does not answer in TLS, or not at all, is a failure of the target", async () => {
    const plain = await startHttpServer();
    const deaf = await startDeafServer();
    const run = (port: number) => runMonitor(monitorSsl, { host: HOST, port, timeout_seconds: 1 }, setting);
    expect(failureOf(await run(plain.port))).toBe("tls/target/plain_text");
    expect(failureOf(await run(deaf.port))).toMatch(/\/target\/timeout$/);
    expect(failureOf(await run(await freePort()))).toBe("connect/target/refused");
    await Promise.all([plain.close(), deaf.close()]);
  });
});
