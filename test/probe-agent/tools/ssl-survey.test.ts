import { afterEach, describe, expect, it } from "vitest";
import type { Configuration } from "#probe-agent/analysis/ssl/configuration.ts";
import { SUITES } from "#probe-agent/analysis/ssl/suites.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { createProber } from "#probe-agent/tools/ssl/prober.ts";
import { survey } from "#probe-agent/tools/ssl/survey.ts";
import { alertRecord, helloRecord } from "#test/servers/tls-handshake.ts";
import { startScriptedTls, type Script } from "#test/servers/tls-scripted.ts";
import { drip, startWireServer, writeForever, type WireHandler } from "#test/servers/wire.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";

const SSL3 = 0x0300;
const TLS10 = 0x0301;
const TLS12 = 0x0303;
const TLS13 = 0x0304;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

interface Bounds {
  readonly connections?: number;
  readonly questionMs?: number;
  readonly totalMs?: number;
}

async function look(port: number, bounds: Bounds = {}): Promise<Configuration> {
  const { connections = 150, questionMs = 2000, totalMs = 15_000 } = bounds;
  const limits = jobLimits(20_000);
  const tls = createTls({ clock: systemClock, random: systemRandom, egress: loopbackEgress })(limits);
  const net = netOf({ tls }, limits);
  const target = { ip: "127.0.0.1", port, servername: "tls.example" };
  const common = { until: net.monotonic() + totalMs, questionMs, usualMs: 1 };
  const lists = createProber(net, target, { ...common, connections });
  return await survey({ lists, features: createProber(net, target, { ...common, connections: 60 }) }, 23);
}

async function scripted(script: Script, bounds?: Bounds) {
  const server = await startScriptedTls(script);
  open.push(server);
  return { seen: await look(server.port, bounds), server };
}

async function wired(handler: WireHandler, bounds?: Bounds): Promise<Configuration> {
  const server = await startWireServer(handler);
  open.push(server);
  return look(server.port, bounds);
}

function offered({ versions }: Configuration): string {
  return versions.map((one) => (one.offered === null ? "?" : one.offered ? "+" : "-")).join("");
}

function names({ suites }: Configuration, wire: number): string[] {
  const codes = suites.find(({ version }) => version.wire === wire)?.codes ?? [];
  return codes.map((code) => (SUITES.get(code)?.name ?? "").slice(4));
}

function many(...octets: readonly number[]): Uint8Array {
  return Buffer.concat(Array.from({ length: 1000 }, () => Buffer.from(octets)));
}

describe("suites no library offers any more", () => {
  it("SSL 3 with RC4, 3DES and export suites is seen as it is", async () => {
    const { seen } = await scripted({ versions: { [SSL3]: [0x000a, 0x0005, 0x0003, 0x0014], [TLS10]: [0x000a] } });
    expect(offered(seen)).toBe("++---");
    expect(names(seen, SSL3)).toEqual([
      "RSA_WITH_3DES_EDE_CBC_SHA",
      "RSA_WITH_RC4_128_SHA",
      "RSA_EXPORT_WITH_RC4_40_MD5",
      "DHE_RSA_EXPORT_WITH_DES40_CBC_SHA",
    ]);
    expect(names(seen, TLS10)).toEqual(["RSA_WITH_3DES_EDE_CBC_SHA"]);
    expect(seen).toMatchObject({ groups: [], primeBits: 2048, secureRenegotiation: true, fallbackScsv: true });
    expect(seen.suites.map(({ complete, order, ranked }) => [complete, order, ranked])).toEqual([
      [true, "server", true],
      [true, null, true],
    ]);
  });

  it("a server of nothing but GOST or shared keys is found by the rare ones", async () => {
    const { seen } = await scripted({ versions: { [TLS12]: [0x0081, 0xc100, 0x008c] } });
    expect(offered(seen)).toBe("---+-");
    expect(names(seen, TLS12)).toEqual([
      "GOSTR341001_WITH_28147_CNT_IMIT",
      "GOSTR341112_256_WITH_KUZNYECHIK_CTR_OMAC",
      "PSK_WITH_AES_128_CBC_SHA",
    ]);
  });
});

describe("order of preference", () => {
  const own = [0x009c, 0xc02f, 0x0039, 0xc013, 0x0035, 0xc030, 0x009e, 0x0096];

  it("is the server's across all kinds of suites", async () => {
    const { seen } = await scripted({ versions: { [TLS12]: own, [TLS13]: [0x1303, 0x1301] } });
    expect(seen.suites.map(({ codes, order, ranked, complete }) => [codes, order, ranked, complete])).toEqual([
      [own, "server", true, true],
      [[0x1303, 0x1301], "server", true, true],
    ]);
  });

  it("is the client's where the server has none", async () => {
    const { seen } = await scripted({ versions: { [TLS12]: own }, clientOrder: true });
    expect(seen.suites[0]).toMatchObject({ order: "client", ranked: false, complete: true });
    expect(new Set(seen.suites[0]?.codes)).toEqual(new Set(own));
  });
});

describe("groups and features", () => {
  it("come from HelloRetryRequest, from ServerKeyExchange and from the prime", async () => {
    const { seen } = await scripted({
      versions: { [TLS12]: [0xc02f, 0x009e], [TLS13]: [0x1301] },
      groups: [0x11ec, 29, 24, 256],
      primeBytes: 128,
      compression: 1,
      secureRenegotiation: false,
      fallbackScsv: false,
    });
    expect(seen.groups.map(({ version, codes, complete }) => [version.wire, new Set(codes), complete])).toEqual([
      [TLS13, new Set([24, 256, 29, 0x11ec]), true],
      [TLS12, new Set([24, 29]), true],
    ]);
    expect(seen).toMatchObject({
      primeBits: 1024,
      compression: true,
      secureRenegotiation: false,
      fallbackScsv: false,
      fedUp: false,
    });
  });

  it("an EC key's own curve stays on offer, or the server could not use its certificate", async () => {
    const { seen } = await scripted({
      versions: { [TLS12]: [0xc02b] },
      groups: [29, 24, 23],
      intercept: (socket, { groups }) => {
        if (groups.includes(23)) return false;
        socket.end(alertRecord(40));
        return true;
      },
    });
    expect(seen.groups.map(({ codes, complete }) => [codes, complete])).toEqual([[[29, 24, 23], true]]);
  });

  it("are null for TLS 1.3 alone, which has none of them", async () => {
    const { seen } = await scripted({ versions: { [TLS13]: [0x1302] } });
    expect(seen).toMatchObject({ compression: false, secureRenegotiation: null, fallbackScsv: null, primeBits: null });
  });
});

describe("servers that are hard to talk to", () => {
  it("choke on long hellos: short ones tell, however the long ones fail", async () => {
    for (const fail of ["silent", "closed", "reset"] as const) {
      const lengths: number[] = [];
      const { seen } = await scripted(
        {
          versions: { [TLS10]: [0x0035], [TLS12]: [0xc02f, 0x009c, 0x0035, 0xc03c] },
          intercept: (socket, { length }) => {
            lengths.push(length);
            if (length <= 255) return false;
            if (fail === "closed") socket.end();
            if (fail === "reset") socket.resetAndDestroy();
            return true;
          },
        },
        { questionMs: 300 },
      );
      expect(offered(seen), fail).toBe("-+-+-");
      expect(names(seen, TLS12).toSorted(), fail).toEqual([
        "ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "RSA_WITH_AES_128_GCM_SHA256",
        "RSA_WITH_AES_256_CBC_SHA",
        "RSA_WITH_ARIA_128_CBC_SHA256",
      ]);
      expect(
        seen.suites.every(({ complete }) => complete),
        fail,
      ).toBe(true);
      expect(lengths.filter((length) => length > 255).length, fail).toBeLessThan(20);
    }
  });

  it("say nothing to versions they do not know: null, not false", async () => {
    const { seen } = await scripted(
      { versions: { [TLS12]: [0xc02f] }, intercept: (_socket, { version }) => version !== TLS12 },
      { questionMs: 300 },
    );
    expect(offered(seen)).toBe("???+?");
  });

  it("close or reset without a word: a refusal, as long as they still answer what they answered before", async () => {
    for (const refuse of [
      (socket: Parameters<WireHandler>[0]) => void socket.end(),
      (socket: Parameters<WireHandler>[0]) => void socket.resetAndDestroy(),
    ]) {
      const { seen } = await scripted({ versions: { [TLS12]: [0xc02f, 0xc030] }, refuse });
      expect(offered(seen)).toBe("---+-");
      expect(seen.suites[0]).toMatchObject({ codes: [0xc02f, 0xc030], complete: true });
      expect(seen.fedUp).toBe(false);
    }
  });

  it("have enough of us after some connections: what was refused then is not known", async () => {
    const { seen } = await scripted({
      versions: { [TLS10]: [0x0035], [TLS12]: [0xc02f, 0xc030, 0x009c, 0x0035] },
      refuse: (socket) => void socket.end(),
      intercept: (socket, _hello, count) => {
        if (count <= 14) return false;
        socket.resetAndDestroy();
        return true;
      },
    });
    expect(seen.fedUp).toBe(true);
    expect(offered(seen)).toBe("?+?+?");
    expect(seen.suites.every(({ complete }) => !complete)).toBe(true);
    expect(seen.suites.some(({ codes }) => codes.length > 0)).toBe(true);
  });

  it("fall silent half way: a partial list, soon", async () => {
    const started = systemClock.monotonic();
    const { seen, server } = await scripted(
      {
        versions: { [TLS12]: [0xc02f, 0xc030, 0x009c, 0x0035, 0x009e, 0x0039] },
        intercept: (_socket, _hello, count) => count > 12,
      },
      { questionMs: 200 },
    );
    expect(seen.suites[0]?.complete).toBe(false);
    expect(server.accepted()).toBeLessThan(40);
    expect(systemClock.monotonic() - started).toBeLessThan(8000);
  });

  it("have more suites than connections are allowed: a partial list", async () => {
    const all = [...SUITES.values()].filter(({ tls13 }) => !tls13).map(({ code }) => code);
    const { seen, server } = await scripted({ versions: { [TLS12]: all } }, { connections: 50 });
    expect(seen.suites[0]?.complete).toBe(false);
    expect(seen.suites[0]?.codes.length).toBeGreaterThan(30);
    expect(server.accepted()).toBeLessThan(110);
    const { seen: whole } = await scripted({ versions: { [TLS12]: all } }, { connections: 400 });
    expect(whole.suites[0]).toMatchObject({ complete: true });
    expect(whole.suites[0]?.codes.length).toBe(all.length);
  });
});

describe("servers that answer nonsense", () => {
  const NOTHING = ["?????", "-----"];
  it.each<[string, WireHandler]>([
    ["garbage", (socket) => void socket.end(Buffer.alloc(300, 0xa7))],
    ["plain text", (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
    [
      "an octet a second",
      (socket) => drip(socket, Buffer.from(helloRecord({ version: 0x0303, suite: 0x002f })).toString("latin1"), 1000),
    ],
    ["empty records without end", (socket) => writeForever(socket, many(22, 3, 3, 0, 0))],
    [
      "full records without end",
      (socket) => writeForever(socket, Buffer.concat([Uint8Array.of(22, 3, 3, 0x40, 0), Buffer.alloc(16_384, 2)])),
    ],
    ["warnings without end", (socket) => writeForever(socket, many(21, 3, 1, 0, 2, 1, 112))],
    ["alerts alone", (socket) => void socket.end(alertRecord(80))],
    ["an alert of one octet", (socket) => void socket.end(Uint8Array.of(21, 3, 1, 0, 1, 2))],
    ["nothing", () => undefined],
    ["an end at once", (socket) => void socket.end()],
  ])("%s", async (_what, handler) => {
    const started = systemClock.monotonic();
    const seen = await wired(handler, { questionMs: 300 });
    expect(NOTHING).toContain(offered(seen));
    expect(seen.suites).toEqual([]);
    expect(systemClock.monotonic() - started).toBeLessThan(10_000);
  });

  it("the same suite whatever is offered ends the list", async () => {
    const seen = await wired((socket) => void socket.write(helloRecord({ version: TLS12, suite: 0xc02f })));
    expect(offered(seen)).toBe("---+-");
    expect(seen.suites[0]).toMatchObject({ codes: [0xc02f], complete: false });
  });

  it("a version nobody asked for counts as a refusal", async () => {
    const seen = await wired((socket) => void socket.write(helloRecord({ version: 0x7f1c, suite: 0x1301 })));
    expect(offered(seen)).toBe("-----");
  });
});
