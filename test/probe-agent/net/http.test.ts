import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { failureOf, httpEngine, pageOf, TEST_AGENT, type Fetch } from "#test/support/http-engine.ts";

let server: HttpServer;
let dns: DnsServer;
let get: Fetch;

beforeAll(async () => {
  server = await startHttpServer({ host: "127.0.0.1" });
  dns = await startDnsServer({
    zones: {
      "site.test": { A: ["127.0.0.1"] },
      "second.test": { A: ["127.0.0.2", "127.0.0.1"] },
      "dead.test": { A: ["127.0.0.2", "127.0.0.3"] },
      "mixed.test": { A: ["10.0.0.1", "127.0.0.1"] },
      "inside.test": { A: ["10.0.0.1"] },
      "none.test": { MX: ["10 site.test."] },
    },
  });
  get = httpEngine({ dnsServers: [dns.address] });
});
afterAll(async () => {
  await server.close();
  await dns.close();
});

describe("a fetch over HTTP/1.1", () => {
  it("reports status, version, address, headers in wire order and case, and the body", async () => {
    const page = pageOf(await get({ url: `http://site.test:${server.port}/bytes/10` }));
    expect(page).toMatchObject({ finalUrl: `http://site.test:${server.port}/bytes/10`, stopped: null });
    expect(page.final).toMatchObject({
      code: 200,
      statusText: "OK",
      httpVersion: "1.1",
      ip: "127.0.0.1",
      ipVersion: 4,
      port: server.port,
      addresses: [{ ip: "127.0.0.1", version: 4 }],
      blocked: [],
      tls: null,
      location: null,
    });
    expect(page.final.headers.map(([name]) => name)).toEqual([
      "content-type",
      "Date",
      "Connection",
      "Transfer-Encoding",
    ]);
    expect(Buffer.from(page.body.bytes).toString()).toBe("x".repeat(10));
    expect(page.body).toMatchObject({ transferredBytes: 10, decodedBytes: 10, encoding: null, error: null });
  });

  it("sends the name as Host, our User-Agent, and what it can decode", async () => {
    await get({ url: `http://site.test:${server.port}/echo?q=1#frag`, headers: [["X-More", "yes"]] });
    expect(server.requests.at(-1)).toEqual({
      method: "GET",
      path: "/echo?q=1",
      httpVersion: "1.1",
      headers: [
        ["Host", `site.test:${server.port}`],
        ["User-Agent", TEST_AGENT],
        ["Accept", "*/*"],
        ["Accept-Encoding", "gzip, deflate, br, zstd"],
        ["X-More", "yes"],
        ["Connection", "close"],
      ],
      body: "",
    });
  });

  it("sends a body, another User-Agent, and HEAD without waiting for a body", async () => {
    await get({ url: `${server.url}/echo`, method: "POST", body: Buffer.from("hello"), userAgent: "other/1" });
    expect(server.requests.at(-1)).toMatchObject({ method: "POST", body: "hello" });
    expect(server.requests.at(-1)?.headers).toContainEqual(["User-Agent", "other/1"]);
    const head = pageOf(await get({ url: `${server.url}/encoded/gzip`, method: "HEAD" }));
    expect(head.body).toMatchObject({ transferredBytes: 0, encoding: null, error: null });
    expect(head.final.headers.map(([name]) => name)).toContain("content-encoding");
  });

  it("keeps hundreds of Set-Cookie lines apart and in order", async () => {
    const { final } = pageOf(await get({ url: `${server.url}/cookies/300` }));
    const cookies = final.headers.filter(([name]) => name === "set-cookie").map(([, value]) => value);
    expect(cookies).toEqual(Array.from({ length: 300 }, (_, index) => `c${index}=${index}; Path=/`));
  });

  it.each(["gzip", "br", "zstd", "deflate", "deflate-raw", "gzip,br,zstd"])("decodes %s", async (coding) => {
    const { body } = pageOf(await get({ url: `${server.url}/encoded/${coding}` }));
    expect(Buffer.from(body.bytes).toString()).toBe("Hello, world. ".repeat(100));
    expect(body.transferredBytes).toBeLessThan(body.decodedBytes);
    expect(body).toMatchObject({ error: null, truncated: false });
  });

  it("reads chunked bodies with trailers", async () => {
    const { body } = pageOf(await get({ url: `${server.url}/trailers` }));
    expect(Buffer.from(body.bytes).toString()).toBe("with trailers\n");
  });

  it("skips early hints", async () => {
    const page = pageOf(await get({ url: `${server.url}/hints/3` }));
    expect(page.final.code).toBe(200);
    expect(Buffer.from(page.body.bytes).toString()).toBe("hello");
  });

  it("reports durations that add up, without a lookup for a literal and without TLS", async () => {
    const page = pageOf(await get({ url: `${server.url}/redirect/2` }));
    for (const { timing } of page.hops) {
      const { dns: lookup, connect, tls, ttfb, transfer, total } = timing;
      expect(lookup + connect + tls + ttfb + transfer).toBe(total);
      expect([lookup, tls]).toEqual([0, 0]);
      expect(Math.min(connect, ttfb, transfer)).toBeGreaterThanOrEqual(0);
    }
    expect(page.elapsedUs).toBe(page.final.startedAtUs + page.final.timing.total);
    const [first, second] = page.hops;
    expect(second?.startedAtUs).toBeGreaterThanOrEqual(first?.timing.total ?? Number.NaN);
    expect(first?.startedAtUs).toBe(0);
    const named = pageOf(await get({ url: `http://site.test:${server.port}/` }));
    expect(named.final.timing.dns).toBeGreaterThan(0);
  });

  it.each(["HTTP/1.0 200 Fine\r\nA: 1\r\n\r\nold", "HTTP/1.1 200 Fine\nA : 1\n b\nnonsense\n\nold"])(
    "shows what an odd server sends: %j",
    async (bytes) => {
      const page = pageOf(await get({ url: `${server.url}/wire?bytes=${encodeURIComponent(bytes)}` }));
      expect(page.final).toMatchObject({ code: 200, statusText: "Fine", httpVersion: bytes.slice(5, 8) });
      expect(page.final.headers[0]?.[0]).toBe("A");
      expect(page.final.faults.length > 0).toBe(bytes.includes("nonsense"));
      expect(Buffer.from(page.body.bytes).toString()).toBe("old");
    },
  );

  it("decodes header values as UTF-8 if valid, else as latin1, without control characters", async () => {
    const bytes = "HTTP/1.1 200 \u00c3\u00bc\r\nA: caf\u00c3\u00a9\r\nB: caf\u00e9\r\nC: a\u0000b\u0007c\td\r\n\r\n";
    const { final } = pageOf(await get({ url: `${server.url}/wire?bytes=${encodeURIComponent(bytes)}` }));
    expect(final.statusText).toBe("ü");
    expect(final.headers.map(([, value]) => value)).toEqual(["café", "café", "a\ufffdb\ufffdc\td"]);
  });

  it("leaves no connection behind", async () => {
    await get({ url: `${server.url}/` });
    await get({ url: `${server.url}/redirect/3` });
    await expect.poll(() => server.open()).toBe(0);
  });
});

describe("a fetch that fails", () => {
  it("tries the next address if one refuses, and reports which one answered", async () => {
    const page = pageOf(await get({ url: `http://second.test:${server.port}/` }));
    expect(page.final.ip).toBe("127.0.0.1");
    expect(page.final.addresses.map(({ ip }) => ip)).toEqual(["127.0.0.2", "127.0.0.1"]);
  });

  it("uses only the allowed addresses and reports the others as blocked", async () => {
    const { final } = pageOf(await get({ url: `http://mixed.test:${server.port}/` }));
    expect(final).toMatchObject({ ip: "127.0.0.1", blocked: [{ ip: "10.0.0.1", version: 4 }] });
    expect(final.addresses).toEqual([{ ip: "127.0.0.1", version: 4 }]);
  });

  it.each([
    ["dead.test", "connect/target/refused"],
    ["absent.test", "dns/target/nxdomain"],
    ["none.test", "dns/target/no_address"],
    ["inside.test", "refused"],
  ])("reports for %s: %s", async (host, expected) => {
    expect(failureOf(await get({ url: `http://${host}:${server.port}/` }))).toBe(expected);
  });

  it("reports a User-Agent that must not be sent as invalid", async () => {
    expect(await get({ url: server.url, userAgent: "a\r\nb" })).toMatchObject({ status: "invalid", field: "ua" });
  });

  it("reports a text that is not a URL as invalid", async () => {
    expect(await get({ url: "http://" })).toMatchObject({ status: "invalid", field: "url" });
  });
});

describe("an operator's own service", () => {
  it("is exempt from the rules, but only at its own origin", async () => {
    const { createEgress, NO_ALLOW_LISTS } = await import("#shared/internet/egress.ts");
    const strict = httpEngine({ dnsServers: [dns.address], egress: createEgress(NO_ALLOW_LISTS) });
    const other = await startWireServer("HTTP/1.1 200 OK\r\n\r\n");
    for (const host of ["127.0.0.1", "site.test", "localhost"]) {
      const url = `http://${host}:${server.port}`;
      expect(failureOf(await strict({ url })), host).toBe("refused");
      expect(pageOf(await strict({ url: `${url}/redirect/2`, trusted: true })).hops.length, host).toBe(3);
      const elsewhere = encodeURIComponent(`http://${host}:${other.port}/`);
      expect(failureOf(await strict({ url: `${url}/to?url=${elsewhere}`, trusted: true }))).toBe("refused");
    }
    expect(failureOf(await strict({ url: "http://absent.test/", trusted: true }))).toBe("dns/target/nxdomain");
    expect(other.accepted()).toBe(0);
    await other.close();
  });
});
