import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import {
  GATE_BOUNDS,
  openGate,
  type Gate,
  type GateBounds,
  greetingReply,
  readGreeting,
  readRequest,
  requestReply,
} from "#probe-agent/net/browser/gate.ts";
import { documentFailure } from "#probe-agent/net/browser.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { makeRecord } from "#test/servers/dns-zones.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { systemClock } from "#test/support/clock.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits } from "#test/support/net.ts";
import { socksConnect, socksExchange } from "#test/support/socks.ts";
import { until } from "#test/support/until.ts";

/** The site's address is open, its neighbours' are not. */
const egress = createEgress({ targets: ["127.0.0.1/32", "::1/128"], names: [] });
let site: HttpServer;
let dns: DnsServer;
let flips = 0;
const gates: Gate[] = [];

beforeAll(async () => {
  site = await startHttpServer({
    handler: (_request, response, { path }) => {
      if (path === "/big") response.end(Buffer.alloc(300_000));
      else response.end("hello");
      return true;
    },
  });
  const zones: Readonly<Record<string, readonly string[]>> = {
    "site.test": ["127.0.0.1"],
    "inside.test": ["127.0.0.2", "10.0.0.1"],
    "dead.test": ["127.0.0.1", "127.0.0.2"],
    "half.test": ["10.0.0.1", "127.0.0.1"],
  };
  dns = await startDnsServer({
    answer(asked, type) {
      const name = asked.toLowerCase();
      // The second look-up leads inside.
      if (name === "rebinding.test") flips += type === "A" ? 1 : 0;
      const addresses = name === "rebinding.test" ? [flips > 1 ? "127.0.0.2" : "127.0.0.1"] : zones[name];
      const answers = type === "A" ? (addresses ?? []).map((address) => makeRecord(asked, "A", address)) : [];
      return { status: addresses === undefined ? "NXDOMAIN" : "NOERROR", answers, authority: [] };
    },
  });
});
afterAll(() => Promise.all([site.close(), dns.close()]));
afterEach(() => {
  for (const gate of gates.splice(0)) gate.close();
});

async function open(bounds: Partial<GateBounds> = {}, signal?: AbortSignal): Promise<Gate> {
  const limits = jobLimits(10_000, signal);
  const gate = await openGate({
    egress,
    dns: dnsPort([dns.address], { egress, limits }),
    clock: systemClock,
    limits,
    bounds: { ...GATE_BOUNDS, ...bounds },
  });
  gates.push(gate);
  return gate;
}

const GET = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

describe("what may pass", () => {
  it("is a vetted name or address; both directions flow", async () => {
    const { port } = await open();
    for (const host of ["site.test", "127.0.0.1", "SITE.TEST.", "half.test"]) {
      const { code, rest } = await socksConnect(port, host, site.port, GET);
      expect(code, host).toBe(0);
      expect(await rest, host).toContain("hello");
    }
  });

  it("is no refused address of a name whose allowed one refuses the connection", async () => {
    const inside = await startHttpServer({
      host: "127.0.0.2",
      handler: (_request, response) => {
        response.end("inside");
        return true;
      },
    });
    const gate = await open();
    expect((await socksConnect(gate.port, "dead.test", inside.port, GET)).code).toBe(5);
    expect(inside.accepted()).toBe(0);
    await inside.close();
  });

  it("is none of what the rules refuse, in any spelling", async () => {
    const gate = await open();
    const hosts = [
      "127.0.0.2",
      "inside.test",
      "localhost",
      "intranet",
      "printer.local",
      "a.internal",
      "10.0.0.1",
      "169.254.169.254",
      "0x7f000002",
      "2130706434",
      "0.0.0.0",
      "::ffff:127.0.0.2",
      "::",
      "fe80::1",
      "[127.0.0.2]",
      "user@127.0.0.1",
      "127.0.0.1/x",
      "127.0.0.1\\x",
      "",
      "a..b.test",
    ];
    for (const host of hosts) expect((await socksConnect(gate.port, host, site.port, GET)).code, host).toBe(2);
    expect(gate.refusals()).toBe(hosts.length);
    expect(site.requests.filter(({ headers }) => headers.length === 0)).toEqual([]);
  });

  it("goes to no port that browsers may not speak to", async () => {
    const { port } = await open();
    expect((await socksConnect(port, "127.0.0.1", 25)).code).toBe(2);
  });

  it("is pinned: a name that changes its mind leads where it first led", async () => {
    const { port } = await open();
    for (let round = 0; round < 3; round += 1) {
      const { code, rest } = await socksConnect(port, "rebinding.test", site.port, GET);
      expect([code, (await rest).includes("hello")]).toEqual([0, true]);
    }
    expect(flips).toBe(1);
  });

  it("takes an address of both kinds as address and not only as name", async () => {
    const { port } = await open();
    const ports = Buffer.from([site.port >> 8, site.port & 255]);
    const literal = Buffer.concat([Buffer.from([5, 1, 0, 1, 127, 0, 0, 1]), ports]);
    expect((await socksExchange(port, [Buffer.from([5, 2, 1, 0]), literal])).code).toBe(0);
    const refused = Buffer.concat([Buffer.from([5, 1, 0, 1, 10, 0, 0, 1]), ports]);
    expect((await socksExchange(port, [Buffer.from([5, 1, 0]), refused])).code).toBe(2);
    const mapped = Buffer.concat([
      Buffer.from([5, 1, 0, 4]),
      Buffer.alloc(10),
      Buffer.from([255, 255, 127, 0, 0, 2]),
      ports,
    ]);
    expect((await socksExchange(port, [Buffer.from([5, 1, 0]), mapped])).code).toBe(2);
  });
});

describe("what keeps a connection from standing", () => {
  it("is reported by place, and forgotten once it is established", async () => {
    const gate = await open();
    const closed = await freePort();
    expect((await socksConnect(gate.port, "site.test", closed)).code).toBe(5);
    expect((await socksConnect(gate.port, "none.test", 80)).code).toBe(4);
    expect((await socksConnect(gate.port, "127.0.0.2", 80)).code).toBe(2);
    await socksConnect(gate.port, "site.test", site.port, GET);
    const told = (host: string, port: number) => {
      const obstacle = gate.obstacle(host, port);
      return obstacle === null ? null : failureOf(obstacle);
    };
    expect(told("site.test", closed)).toBe("connect/target/refused");
    expect(told("none.test", 80)).toBe("dns/target/nxdomain");
    expect(told("127.0.0.2", 80)).toBe("refused");
    expect(told("site.test", site.port)).toBeNull();
    expect(gate.asked()).toHaveLength(4);
  });

  it("is the reason why a document did not come, before Chromium's own word", async () => {
    const gate = await open();
    await socksConnect(gate.port, "127.0.0.2", 80);
    const why = (error: string, url: string) => failureOf(documentFailure(error, url, gate));
    expect(why("net::ERR_SOCKS_CONNECTION_FAILED", "http://127.0.0.2/")).toBe("refused");
    expect(why("net::ERR_TIMED_OUT", "http://site.test/")).toBe("response/target/timeout");
    expect(why("net::ERR_SSL_PROTOCOL_ERROR", "https://site.test/")).toBe("tls/target/protocol_version");
    expect(why("net::ERR_UNSAFE_REDIRECT", "http://site.test/")).toBe("response/target/bad_location");
    expect(why("net::ERR_UNSAFE_PORT", "http://site.test:25/")).toBe("refused");
    expect(why("net::ERR_WHATEVER", "not a url")).toBe("response/target/protocol_error");
  });
});

describe("a client that speaks something else", () => {
  it.each([
    ["HTTP", [Buffer.from(GET)]],
    ["SOCKS4", [Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0])]],
    ["no method of ours", [Buffer.from([5, 1, 2])]],
    ["an unknown kind of address", [Buffer.from([5, 1, 0]), Buffer.from([5, 1, 0, 9, 1, 1, 1, 1, 1, 1])]],
    ["nothing", []],
  ])("is sent away: %s", async (_what, pieces) => {
    const gate = await open({ patienceMs: 300 });
    expect((await socksExchange(gate.port, pieces)).code).not.toBe(0);
    expect(gate.asked()).toEqual([]);
  });

  it("may only CONNECT", async () => {
    const { port } = await open();
    const bind = Buffer.from([5, 2, 0, 1, 127, 0, 0, 1, 0, 80]);
    expect((await socksExchange(port, [Buffer.from([5, 1, 0]), bind])).code).toBe(7);
  });

  it("may send its octets one by one", async () => {
    const { port } = await open();
    const name = Buffer.from("site.test");
    const all = Buffer.concat([
      Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]),
      name,
      Buffer.from([site.port >> 8, site.port & 255]),
      Buffer.from(GET),
    ]);
    const { code, rest } = await socksExchange(
      port,
      Array.from(all, (octet) => Buffer.from([octet])),
    );
    expect([code, (await rest).includes("hello")]).toEqual([0, true]);
  });
});

describe("the bounds of a gate", () => {
  it("end all of it: too many octets", async () => {
    const gate = await open({ bytes: 100_000 });
    const { rest } = await socksConnect(gate.port, "site.test", site.port, GET.replace("/ ", "/big "));
    expect((await rest).length).toBeLessThan(300_000);
    expect(gate.cut()).toBe(true);
    expect((await socksConnect(gate.port, "site.test", site.port, GET)).code).toBeNull();
  });

  it("end all of it: too many connections", async () => {
    const gate = await open({ connections: 3 });
    const codes: (number | null)[] = [];
    while (codes.length < 4) codes.push((await socksConnect(gate.port, "site.test", site.port, GET)).code);
    expect(codes).toEqual([0, 0, 0, null]);
    expect(gate.cut()).toBe(true);
  });

  it("hold for connections at once", async () => {
    const gate = await open({ atOnce: 2 });
    const sockets = Array.from({ length: 30 }, () => connect(gate.port, "127.0.0.1").on("error", () => undefined));
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(20);
    for (const socket of sockets) socket.destroy();
  });

  it("close every connection with the gate, and with a client its target's", async () => {
    const gate = await open();
    const before = site.open();
    const { socket } = await socksConnect(gate.port, "site.test", site.port);
    expect(site.open()).toBe(before + 1);
    socket.destroy();
    await until(() => site.open() === before, "the connection to the target is closed");
    const { rest } = await socksConnect(gate.port, "site.test", site.port);
    gate.close();
    expect(await rest).toBe("");
    await until(() => site.open() === before, "the connection to the target is closed");
  });

  it("listen on loopback alone", async () => {
    const gate = await open();
    const elsewhere = connect(gate.port, "127.0.0.2");
    const error = await new Promise((resolve) => elsewhere.once("error", resolve).once("connect", () => resolve(null)));
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("the words of SOCKS5 (RFC 1928)", () => {
  it("are read only when they are whole", () => {
    expect(readGreeting(Buffer.alloc(0))).toEqual({ kind: "more" });
    expect(readGreeting(Buffer.from([5, 3, 0, 1]))).toEqual({ kind: "more" });
    expect(readGreeting(Buffer.from([5, 3, 2, 1, 0, 99]))).toEqual({ kind: "done", value: true, used: 5 });
    expect(readGreeting(Buffer.from([5, 0]))).toEqual({ kind: "done", value: false, used: 2 });
    const whole = Buffer.from([5, 1, 0, 3, 1, 97, 0, 80, 7]);
    for (let length = 0; length < 8; length += 1)
      expect(readRequest(whole.subarray(0, length))).toEqual({ kind: "more" });
    expect(readRequest(whole)).toEqual({ kind: "done", value: { host: "a", port: 80 }, used: 8 });
    const six = Buffer.from([5, 1, 0, 4, ...Array.from({ length: 15 }, () => 0), 1, 1, 187]);
    expect(readRequest(six)).toEqual({ kind: "done", value: { host: "0:0:0:0:0:0:0:1", port: 443 }, used: 22 });
  });

  it("are written as the RFC has them", () => {
    expect([...greetingReply(true), ...greetingReply(false)]).toEqual([5, 0, 5, 255]);
    expect([...requestReply(2)]).toEqual([5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
  });
});
