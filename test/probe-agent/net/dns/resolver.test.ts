import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import { arpaName } from "#probe-agent/dns-codec/address.ts";
import { createDns, parseResolvConf } from "#probe-agent/net/dns/create.ts";
import { parseServer } from "#probe-agent/net/dns/server-address.ts";
import { startDnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";

const ZONES = {
  "example.test": { SOA: ["ns1.example.test. h.example.test. 1 2 3 4 5"] },
  "both.example.test": { A: ["192.0.2.1", "192.0.2.2"], AAAA: ["2001:db8::1"] },
  "four.example.test": { A: ["192.0.2.4"] },
  "alias.example.test": { CNAME: ["Both.example.test."] },
  "dangling.example.test": { CNAME: ["gone.example.test."] },
  "circle.example.test": { CNAME: ["circle.example.test."] },
  "private.example.test": { A: ["10.0.0.1", "192.0.2.9"], AAAA: ["fc00::1"] },
  "hidden.example.test": { A: ["10.0.0.1", "169.254.169.254"], AAAA: ["::1"] },
  "mapped.example.test": { AAAA: ["::ffff:10.0.0.1"] },
  "crowd.example.test": { A: Array.from({ length: 150 }, (_, index) => `192.0.2.${index + 1}`) },
  "1.2.0.192.in-addr.arpa": { CNAME: ["1.0-127.2.0.192.in-addr.arpa."] },
  "1.0-127.2.0.192.in-addr.arpa": { PTR: ["Host.example.test.", "other.example.test.", "host.example.test."] },
};

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const onlyTest = createEgress({ targets: ["192.0.2.0/24", "2001:db8::/32"], names: [] });

async function start(options: DnsServerOptions = {}, egress = onlyTest, deadlineMs = 10_000) {
  const server = await startDnsServer({ zones: ZONES, ...options });
  open.push(server);
  return { server, dns: dnsPort([server.address], { egress, limits: jobLimits(deadlineMs) }) };
}

describe("resolve", () => {
  it("returns both families, IPv4 first, in the resolver's order", async () => {
    const { dns, server } = await start();
    expect(await dns.resolve("Both.Example.test.")).toMatchObject({
      status: "ok",
      data: {
        host: "both.example.test",
        allowed: [
          { ip: "192.0.2.1", version: 4 },
          { ip: "192.0.2.2", version: 4 },
          { ip: "2001:db8::1", version: 6 },
        ],
        blocked: [],
      },
    });
    expect(server.queries.map(({ type }) => type).toSorted()).toEqual(["A", "AAAA"]);
  });

  it("asks for only one family if requested", async () => {
    const { dns, server } = await start();
    const six = await dns.resolve("both.example.test", 6);
    expect(six).toMatchObject({ data: { allowed: [{ ip: "2001:db8::1", version: 6 }] } });
    expect(server.queries.map(({ type }) => type)).toEqual(["AAAA"]);
    expect(await dns.resolve("four.example.test", 6)).toMatchObject({ status: "failed", reason: "no_address" });
  });

  it("follows aliases in the answer", async () => {
    const { dns } = await start();
    expect(await dns.resolve("alias.example.test")).toMatchObject({
      status: "ok",
      data: { host: "alias.example.test" },
    });
  });

  it("splits the found addresses by the egress rules", async () => {
    const { dns } = await start();
    expect(await dns.resolve("private.example.test")).toMatchObject({
      data: { allowed: [{ ip: "192.0.2.9" }], blocked: [{ ip: "10.0.0.1" }, { ip: "fc00::1" }] },
    });
    expect(await dns.resolve("hidden.example.test")).toEqual({ status: "refused" });
    expect(await dns.resolve("mapped.example.test")).toEqual({ status: "refused" });
  });

  it.each(["localhost", "a.localhost", "db.internal", "printer.local", "single", "127.0.0.1", "[::1]", "10.0.0.1"])(
    "refuses %s before asking anybody",
    async (host) => {
      const { dns, server } = await start();
      expect(await dns.resolve(host)).toEqual({ status: "refused" });
      expect(server.queries).toHaveLength(0);
    },
  );

  it("accepts IP literals", async () => {
    const { dns, server } = await start();
    expect(await dns.resolve("192.0.2.7")).toEqual({
      status: "ok",
      data: { host: "192.0.2.7", allowed: [{ ip: "192.0.2.7", version: 4 }], blocked: [], elapsedMs: 0 },
    });
    expect(await dns.resolve("[2001:DB8::7]")).toMatchObject({
      data: { allowed: [{ ip: "2001:db8::7", version: 6 }] },
    });
    expect(await dns.resolve("192.0.2.7", 6)).toMatchObject({ status: "failed", reason: "no_address" });
    expect(server.queries).toHaveLength(0);
  });

  it("resolves localhost without a query if it is allowed", async () => {
    const { dns, server } = await start({}, loopbackEgress);
    const local = await dns.resolve("localhost");
    expect(local).toMatchObject({ data: { allowed: [{ ip: "127.0.0.1" }, { ip: "::1" }], elapsedMs: 0 } });
    expect(server.queries).toHaveLength(0);
  });

  it.each([
    ["nope.example.test", "target", "nxdomain"],
    ["dangling.example.test", "target", "nxdomain"],
    ["example.test", "target", "no_address"],
    ["circle.example.test", "target", "no_address"],
    [`${"x".repeat(64)}.test`, "target", "invalid_name"],
  ])("fails for %s", async (host, source, reason) => {
    const { dns } = await start();
    expect(await dns.resolve(host)).toMatchObject({ status: "failed", stage: "dns", source, reason });
  });

  it.each([
    [{ status: "SERVFAIL" }, "resolver", "servfail"],
    [{ status: "SERVFAIL", ede: [{ code: 7, text: "expired" }] }, "target", "servfail"],
    [{ status: "REFUSED" }, "resolver", "refused"],
    [{ status: "NOTIMP" }, "resolver", "servfail"],
    [{ drop: true as const }, "resolver", "timeout"],
    [{ truncate: true, dropOver: "tcp" as const }, "resolver", "timeout"],
  ])("blames the right side: %j", async (behaviour, source, reason) => {
    const { dns } = await start({ behaviours: { "*": behaviour } }, onlyTest, 700);
    expect(await dns.resolve("both.example.test")).toMatchObject({ status: "failed", stage: "dns", source, reason });
  });

  it("does not wait long for a family without an answer after the other has answered", async () => {
    const { dns } = await start({ behaviours: { "both.example.test/AAAA": { drop: true } } });
    const ends: string[] = [];
    const [found] = await Promise.all([
      dns.resolve("both.example.test").finally(() => ends.push("name")),
      dns.query({ name: "both.example.test", type: "AAAA" }).finally(() => ends.push("family")),
    ]);
    expect(found).toMatchObject({ data: { allowed: [{ version: 4 }, { version: 4 }] } });
    expect(ends).toEqual(["name", "family"]);
  });

  it("waits for the repeated question of the other family", async () => {
    const { dns } = await start({ behaviours: { "both.example.test/AAAA": { drop: 1 } } });
    const found = await dns.resolve("both.example.test");
    expect(found).toMatchObject({ data: { allowed: [{ version: 4 }, { version: 4 }, { version: 6 }] } });
  });

  it("keeps up to 64 addresses of a family", async () => {
    const { dns } = await start();
    const crowd = await dns.resolve("crowd.example.test");
    expect(crowd.status === "ok" && crowd.data.allowed.length).toBe(64);
  });
});

describe("reverse", () => {
  it("returns each name once, through a delegation by CNAME", async () => {
    const { dns } = await start();
    expect(await dns.reverse("192.0.2.1")).toEqual(["host.example.test", "other.example.test"]);
  });

  it("returns nothing for addresses without names and for texts that are not addresses, and null if no server answers", async () => {
    const { dns, server } = await start();
    expect([await dns.reverse("192.0.2.250"), await dns.reverse("name"), await dns.reverse("fe80::1%eth0")]).toEqual([
      [],
      [],
      [],
    ]);
    expect(server.queries).toHaveLength(1);
    const failing = await start({ behaviours: { "*": { status: "SERVFAIL" } } });
    expect(await failing.dns.reverse("2001:db8::1")).toBeNull();
  });

  it("queries the right name", () => {
    expect(arpaName("192.0.2.1")).toBe("1.2.0.192.in-addr.arpa");
    expect(arpaName("2001:db8::567:89ab")).toBe(
      "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
    );
  });
});

describe("the servers", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1", 53],
    ["192.0.2.1:5353", "192.0.2.1", 5353],
    ["192.0.2.1#5353", "192.0.2.1", 5353],
    ["2001:db8::1", "2001:db8::1", 53],
    ["2001:db8::1#5353", "2001:db8::1", 5353],
    ["[2001:db8::1]", "2001:db8::1", 53],
    ["[2001:db8::1]:5353", "2001:db8::1", 5353],
    ["fe80::1%eth0", "fe80::1%eth0", 53],
  ])("%s is one", (text, ip, port) => {
    expect(parseServer(text)).toEqual({ ip, port });
  });

  it.each(["", "dns.test", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:", "[192.0.2.1]:53", "[::1", "1.2.3", "::1#x"])(
    "%j is none",
    (text) => {
      expect(parseServer(text)).toBeNull();
      const make = () => createDns({ servers: [text], egress: onlyTest, clock: systemClock, random: systemRandom });
      expect(make).toThrow(RangeError);
    },
  );

  it("reads resolv.conf as the system does: up to three servers, and this machine if there are none", () => {
    const text =
      "# c\nsearch a.test\nnameserver 192.0.2.1\n nameserver\t2001:db8::1 ; x\nnameserver bad\n;nameserver 9.9.9.9\n";
    expect(parseResolvConf(text).map(({ ip }) => ip)).toEqual(["192.0.2.1", "2001:db8::1"]);
    expect(parseResolvConf("nameserver 1.1.1.1\n".repeat(5))).toHaveLength(3);
    expect(parseResolvConf("options edns0")).toEqual([{ ip: "127.0.0.1", port: 53 }]);
  });

  it("rereads resolv.conf when it changes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "resolv-"));
    const resolvConf = join(folder, "resolv.conf");
    const egress = createEgress(NO_ALLOW_LISTS);
    const dns = createDns({ servers: [], egress, clock: systemClock, random: systemRandom, resolvConf })(
      jobLimits(300),
    );
    for (const address of ["127.0.0.41", "127.0.0.42"]) {
      await writeFile(resolvConf, `nameserver ${address}\n`);
      expect((await dns.query({ name: "example.test", type: "A", timeoutMs: 50 })).server).toBe(`${address}#53`);
    }
    await rm(folder, { recursive: true });
    expect((await dns.query({ name: "example.test", type: "A", timeoutMs: 50 })).server).toBe("127.0.0.1#53");
  });
});
