import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startWireServer, type WireServer } from "#test/servers/wire.ts";
import { failureOf, httpEngine, type Fetch } from "#test/support/http-engine.ts";

let sentinel: WireServer;
let sentinel6: WireServer;
let dns: DnsServer;
/** The default rules of every agent. */
let strict: Fetch;

beforeAll(async () => {
  sentinel = await startWireServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  sentinel6 = await startWireServer("HTTP/1.1 200 OK\r\n\r\n", { host: "::1" });
  dns = await startDnsServer({
    zones: {
      "loopback.test": { A: ["127.0.0.1"], AAAA: ["::1"] },
      "mapped.test": { AAAA: ["::ffff:127.0.0.1", "64:ff9b::7f00:1"] },
      "metadata.test": { A: ["169.254.169.254"] },
      "private.test": { A: ["10.0.0.1", "192.168.1.1", "172.16.0.1"] },
      "alias.test": { CNAME: ["loopback.test."] },
    },
  });
  strict = httpEngine({ dnsServers: [dns.address], egress: createEgress(NO_ALLOW_LISTS) });
});
afterAll(async () => {
  await sentinel.close();
  await sentinel6.close();
  await dns.close();
});

describe("with no ranges opened", () => {
  it.each([
    "http://127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0.0.0.0:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::7f00:1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://localhost:PORT/",
    "http://localhost.:PORT/",
    "http://sub.localhost:PORT/",
    "http://intranet:PORT/",
    "http://printer.local:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://loopback.test:PORT/",
    "http://alias.test:PORT/",
    "http://mapped.test:PORT/",
    "http://metadata.test/",
    "http://private.test:PORT/",
  ])("%s is refused and nothing is contacted", async (url) => {
    const before = sentinel.accepted() + sentinel6.accepted();
    for (const port of [sentinel.port, sentinel6.port]) {
      expect(failureOf(await strict({ url: url.replace("PORT", String(port)) }, 2000))).toBe("refused");
    }
    expect(sentinel.accepted() + sentinel6.accepted()).toBe(before);
    expect(before).toBe(0);
  });
});

describe("a redirect from an allowed address", () => {
  let outside: HttpServer;
  let get: Fetch;

  beforeAll(async () => {
    // 127.0.0.2 represents the internet, 127.0.0.1 an address that must not be reached.
    outside = await startHttpServer({ host: "127.0.0.2" });
    const egress = createEgress({ targets: ["127.0.0.2/32"], names: [] });
    get = httpEngine({ dnsServers: [dns.address], egress });
  });
  afterAll(() => outside.close());

  it.each([
    "http://127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://[::1]:PORT/",
    "http://localhost:PORT/",
    "http://loopback.test:PORT/",
    "http://169.254.169.254/latest/",
    "http://127.0.0.2:22/",
    "http://user:pass@127.0.0.2:PORT/",
    "http://user@loopback.test:PORT/",
  ])("to %s makes the whole check refused", async (location) => {
    const before = sentinel.accepted();
    for (const code of [301, 307]) {
      const target = encodeURIComponent(location.replace("PORT", String(sentinel.port)));
      const url = `${outside.url}/to?url=${target}&code=${code}`;
      expect(failureOf(await get({ url }, 2000))).toBe("refused");
    }
    expect(sentinel.accepted()).toBe(before);
  });

  it("to a name with some allowed addresses connects only to the allowed one", async () => {
    const both = await startDnsServer({ zones: { "both.test": { A: ["127.0.0.1", "127.0.0.2"] } } });
    const egress = createEgress({ targets: ["127.0.0.2/32"], names: [] });
    const fetch = httpEngine({ dnsServers: [both.address], egress });
    const before = sentinel.accepted();
    const outcome = await fetch({ url: `http://both.test:${sentinel.port}/` });
    expect(failureOf(outcome)).toBe("connect/target/refused");
    expect(sentinel.accepted()).toBe(before);
    await both.close();
  });
});

describe("the peer address", () => {
  it("is checked once connected: a rule that has changed closes the connection before a request", async () => {
    const wire = await startWireServer("HTTP/1.1 200 OK\r\n\r\n");
    let asked = 0;
    const open = createEgress({ targets: ["127.0.0.0/8"], names: [] });
    const wavering = { ...open, allowsAddress: (ip: string) => (asked += 1) === 1 && open.allowsAddress(ip) };
    const get = httpEngine({ egress: wavering });
    expect(failureOf(await get({ url: `http://127.0.0.1:${wire.port}/` }))).toBe("refused");
    expect(wire.received).toEqual([]);
    await wire.close();
  });
});
