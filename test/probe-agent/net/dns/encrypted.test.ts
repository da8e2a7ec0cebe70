import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDns } from "#probe-agent/net/dns/create.ts";
import type { DnsQuestion } from "#probe-agent/port/dns.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startDohFront, startDotFront, type EncryptedFront, type FrontOptions } from "#test/servers/dns-encrypted.ts";
import { createPki, type Issued, type Pki } from "#test/servers/pki.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";

const ZONES = {
  "example.test": { A: ["198.51.100.7"], TXT: Array.from({ length: 60 }, (_, index) => `"${"x".repeat(80)}${index}"`) },
};

let backend: DnsServer;
let pki: Pki;
let certificate: Issued;
const fronts: EncryptedFront[] = [];

beforeAll(async () => {
  backend = await startDnsServer({ zones: ZONES });
  pki = await createPki();
  certificate = await pki.issue({ dns: ["resolver.test"], ip: ["127.0.0.1"] });
});
afterAll(async () => {
  await Promise.all(fronts.map((one) => one.close()));
  await backend.close();
});

async function front(kind: "dot" | "doh", options: Partial<FrontOptions> = {}): Promise<EncryptedFront> {
  const begin = kind === "dot" ? startDotFront : startDohFront;
  const started = await begin(backend.port, { certificate, chain: [pki.intermediate], ...options });
  fronts.push(started);
  return started;
}

function ask(question: Partial<DnsQuestion> & Pick<DnsQuestion, "transport" | "server">) {
  const dns = createDns({
    servers: [],
    egress: loopbackEgress,
    clock: systemClock,
    random: systemRandom,
    roots: [pki.root.pem],
  });
  return dns(jobLimits(60_000)).query({ name: "example.test", type: "A", timeoutMs: 60_000, ...question });
}

describe.each(["dot", "doh"] as const)("a query over %s", (transport) => {
  it("is answered by a server whose certificate contains the name", async () => {
    const { port, seen } = await front(transport);
    const answer = await ask({ transport, server: `127.0.0.1:${port}`, serverName: "resolver.test" });
    expect(answer).toMatchObject({ status: "NOERROR", transport, server: `127.0.0.1#${port}` });
    expect(answer.answers.map(({ data }) => data)).toEqual(["198.51.100.7"]);
    expect(answer.rttMs).toBeGreaterThan(0);
    expect(seen.names).toEqual(["resolver.test"]);
  });

  it("accepts an address as the name if the certificate contains it, and then sends no SNI", async () => {
    const { port, seen } = await front(transport);
    const answer = await ask({ transport, server: `127.0.0.1:${port}`, serverName: "127.0.0.1" });
    expect(answer.status).toBe("NOERROR");
    expect(seen.names).toEqual([null]);
  });

  it("is not answered by a server without a certificate for the name", async () => {
    const { port } = await front(transport);
    const answer = await ask({ transport, server: `127.0.0.1:${port}`, serverName: "other.test", timeoutMs: 600 });
    expect(answer).toMatchObject({
      status: "TIMEOUT",
      answers: [],
      rttMs: null,
      transport,
      unreachable: "certificate",
    });
  });

  it("accepts any certificate if only the address is known (RFC 8310, opportunistic)", async () => {
    const stranger = await pki.issue({ issuer: null });
    const { port } = await front(transport, { certificate: stranger, chain: [] });
    expect((await ask({ transport, server: `127.0.0.1:${port}` })).status).toBe("NOERROR");
  });

  it("carries answers of any size", async () => {
    const { port } = await front(transport);
    const answer = await ask({ transport, server: `127.0.0.1:${port}`, type: "TXT" });
    expect(answer.answers).toHaveLength(60);
  });
});

describe("a query over doh", () => {
  it("uses the requested path, /dns-query by default", async () => {
    const { port, seen } = await front("doh");
    await ask({ transport: "doh", server: `127.0.0.1:${port}` });
    await ask({ transport: "doh", server: `127.0.0.1:${port}`, path: "/custom" });
    expect(seen.paths).toEqual(["/dns-query", "/custom"]);
  });

  it("works with a server that speaks HTTP/1.1 only", async () => {
    const { port } = await front("doh", { http1: true });
    expect((await ask({ transport: "doh", server: `127.0.0.1:${port}` })).status).toBe("NOERROR");
  });

  it.each<[string, Partial<FrontOptions>]>([
    ["an error status", { status: 502 }],
    ["a page of another type, as captive portals send", { mediaType: "text/html" }],
    ["a body longer than a DNS message", { flood: 200_000 }],
    ["a body that is no DNS message", { flood: 40 }],
  ])("takes %s for no answer", async (_what, options) => {
    const { port } = await front("doh", options);
    const answer = await ask({ transport: "doh", server: `127.0.0.1:${port}`, timeoutMs: 600 });
    expect(answer).toMatchObject({ status: "TIMEOUT", answers: [] });
  });
});

it("an encrypted transport without a server is an error of the caller", async () => {
  await expect(ask({ transport: "dot", server: undefined as never })).rejects.toThrow(TypeError);
});
