import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki, daysFromNow, issue, type Issued, type Pki } from "#test/servers/pki.ts";
import { failureOf, httpEngine, identityOf, pageOf, type Fetch } from "#test/support/http-engine.ts";

let pki: Pki;
let dns: DnsServer;
let get: Fetch;
let good: Issued;

beforeAll(async () => {
  pki = await createPki();
  good = await pki.issue({ dns: ["site.test"], ip: ["127.0.0.1"] });
  dns = await startDnsServer({ zones: { "site.test": { A: ["127.0.0.1"] }, "other.test": { A: ["127.0.0.1"] } } });
  get = httpEngine({ dnsServers: [dns.address], roots: [pki.root.pem] });
});
afterAll(() => dns.close());

async function verdictOf(identity: { cert: string; key: string }, host = "site.test", fetch = get) {
  const server = await startHttpServer({ tls: identity });
  const page = pageOf(await fetch({ url: `https://${host}:${server.port}/` }));
  await server.close();
  expect(page.final.code).toBe(200);
  expect(page.final.timing.tls).toBeGreaterThan(0);
  return page.final.tls;
}

const hex = (der: Uint8Array): string => Buffer.from(der).toString("hex");

describe("the verification of the certificate", () => {
  it("succeeds for a chain up to a trusted root, by name and by address", async () => {
    const identity = identityOf(good, pki.intermediate);
    const expected = { authorized: true, error: null, protocol: "TLSv1.3", alpn: "http/1.1" };
    expect(await verdictOf(identity)).toMatchObject(expected);
    expect(await verdictOf(identity, "127.0.0.1")).toMatchObject(expected);
    expect(await verdictOf(identity, "site.test.")).toMatchObject(expected);
  });

  it("reports the fault, and the exchange continues", async () => {
    const expired = await pki.issue({ dns: ["site.test"], notBefore: daysFromNow(-90), notAfter: daysFromNow(-1) });
    const early = await pki.issue({ dns: ["site.test"], notBefore: daysFromNow(1) });
    const alone = await pki.issue({ dns: ["site.test"], issuer: null });
    const told = await pki.issue({ dns: ["site.test"], caIssuers: ["http://pki.example/intermediate.der"] });
    const stranger = await createPki({ name: "Stranger" });
    const strange = await stranger.issue({ dns: ["site.test"] });
    const { intermediate } = pki;
    for (const [identity, error] of [
      [identityOf(expired, intermediate), "expired"],
      [identityOf(early, intermediate), "not_yet_valid"],
      [identityOf(alone), "self_signed"],
      [identityOf(good), "untrusted_root"],
      [identityOf(told), "missing_intermediate"],
      [identityOf(strange, stranger.intermediate), "untrusted_root"],
      [identityOf(strange, stranger.intermediate, stranger.root), "untrusted_root"],
    ] as const) {
      expect(await verdictOf(identity)).toMatchObject({ authorized: false, error });
    }
    // Trusted only by path building: Node uses the first of two issuers.
    const { name: subject, keys: key } = intermediate;
    const crossSign = await issue({ ca: true, subject, key, issuer: stranger.root });
    const mesh = await verdictOf(identityOf(good, crossSign, intermediate));
    expect(mesh).toMatchObject({ authorized: true, error: null });
    expect([mesh?.chain.length, mesh?.path.length]).toEqual([3, 3]);
    expect(await verdictOf(identityOf(good, crossSign))).toMatchObject({ authorized: false, error: "untrusted_root" });
    const mismatch = await verdictOf(identityOf(good, intermediate), "other.test");
    expect(mismatch).toMatchObject({ authorized: false, error: "hostname_mismatch" });
  });

  it("uses the control plane's time, not this host's clock", async () => {
    const inTwoMonths = httpEngine({ dnsServers: [dns.address], roots: [pki.root.pem], now: () => daysFromNow(120) });
    const verdict = await verdictOf(identityOf(good, pki.intermediate), "site.test", inTwoMonths);
    expect(verdict).toMatchObject({ authorized: false, error: "expired" });
  });

  it("refuses certificates that a strict client refuses and OpenSSL at this level accepts", async () => {
    const short = await pki.issue({ dns: ["site.test"], key: "rsa1024" });
    expect(await verdictOf(identityOf(short, pki.intermediate))).toMatchObject({
      authorized: false,
      error: "weak_key",
    });
  });

  it("returns the certificates sent, and the path if there is one", async () => {
    const seen = await verdictOf(identityOf(good, pki.intermediate));
    expect(seen?.chain.slice(0, 2).map(hex)).toEqual([good, pki.intermediate].map(({ der }) => hex(der)));
    expect(seen?.path.map(hex)).toEqual([good, pki.intermediate, pki.root].map(({ der }) => hex(der)));
    expect((await verdictOf(identityOf(good)))?.path).toEqual([]);
  });

  it("uses Node's roots if none are given", async () => {
    const plain = httpEngine({ dnsServers: [dns.address] });
    const verdict = await verdictOf(identityOf(good, pki.intermediate), "site.test", plain);
    expect(verdict).toMatchObject({ authorized: false, error: "untrusted_root" });
  });
});

describe("a handshake", () => {
  it("sends the name as SNI without a final dot, and no SNI for an address", async () => {
    const names: unknown[] = [];
    const server = await startHttpServer({
      tls: identityOf(good, pki.intermediate),
      handler: ({ socket }) => {
        names.push((socket as unknown as { servername: unknown }).servername);
        return false;
      },
    });
    for (const host of ["site.test", "site.test.", "127.0.0.1"]) {
      pageOf(await get({ url: `https://${host}:${server.port}/` }));
    }
    expect(names).toEqual(["site.test", "site.test", false]);
    await server.close();
  });

  it("completes with a server of TLS 1.0 and a weak key", async () => {
    const weak = await pki.issue({ dns: ["site.test"], key: "rsa1024", hash: "SHA-1" });
    const tls = { ...identityOf(weak, pki.intermediate), minVersion: "TLSv1", maxVersion: "TLSv1" } as const;
    const server = await startHttpServer({ tls });
    const { final } = pageOf(await get({ url: `https://site.test:${server.port}/` }));
    expect(final.tls?.protocol).toBe("TLSv1");
    await server.close();
  });

  it.each(["h2", "http/1.1"] as const)(
    "over %s fails with that reason if the server requires a client certificate",
    async (alpn) => {
      for (const [maxVersion, reason] of [
        ["TLSv1.3", "certificate_required"],
        ["TLSv1.2", "handshake_failure"],
      ] as const) {
        const ask = { requestCert: true, rejectUnauthorized: true, ca: pki.root.pem, maxVersion };
        const server = createSecureServer({ ...identityOf(good, pki.intermediate), ...ask, allowHTTP1: true });
        server.on("sessionError", () => undefined);
        await new Promise<void>((resolve) => {
          server.listen(0, "127.0.0.1", resolve);
        });
        const { port } = server.address() as AddressInfo;
        const outcome = await get({ url: `https://site.test:${port}/`, alpn: [alpn] });
        expect(failureOf(outcome)).toBe(`tls/target/${reason}`);
        server.close();
      }
    },
  );

  it("is performed for each redirect", async () => {
    const server = await startHttpServer({ tls: identityOf(good, pki.intermediate) });
    const page = pageOf(await get({ url: `https://site.test:${server.port}/redirect/2` }));
    expect(page.hops.map(({ tls }) => tls?.authorized)).toEqual([true, true, true]);
    expect(server.accepted()).toBe(3);
    await server.close();
  });

  it("is not performed for a redirect to http", async () => {
    const plain = await startHttpServer();
    const server = await startHttpServer({ tls: identityOf(good, pki.intermediate) });
    const url = `https://site.test:${server.port}/to?url=${encodeURIComponent(`${plain.url}/`)}`;
    const page = pageOf(await get({ url }));
    expect(page.hops.map(({ tls }) => tls === null)).toEqual([false, true]);
    await server.close();
    await plain.close();
  });
});
