import { afterEach, describe, expect, it } from "vitest";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { alertRecord, helloRecord } from "#test/servers/tls-handshake.ts";
import { drip, writeForever, type WireHandler } from "#test/servers/wire.ts";
import { many, names, offered, scripted, wired, type Closing } from "#test/support/ssl-survey.ts";

const TLS10 = 0x0301;
const TLS12 = 0x0303;
const open: Closing[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

describe("servers that are hard to talk to", () => {
  it("are surveyed with short hellos if long ones fail, in whatever way", async () => {
    for (const fail of ["silent", "closed", "reset"] as const) {
      const lengths: number[] = [];
      const { seen } = await scripted(
        open,
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
        // Only silence is noticed by the time of a question.
        { questionMs: fail === "silent" ? 1_000 : 60_000 },
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

  it("have versions null, not false, if they do not answer a hello", async () => {
    const { seen } = await scripted(
      open,
      { versions: { [TLS12]: [0xc02f] }, intercept: (_socket, { version }) => version !== TLS12 },
      { questionMs: 300 },
    );
    expect(offered(seen)).toBe("???+?");
  });

  it("refuse by closing or resetting, if they still answer hellos that they answered before", async () => {
    for (const refuse of [
      (socket: Parameters<WireHandler>[0]) => void socket.end(),
      (socket: Parameters<WireHandler>[0]) => void socket.resetAndDestroy(),
    ]) {
      const { seen } = await scripted(open, { versions: { [TLS12]: [0xc02f, 0xc030] }, refuse });
      expect(offered(seen)).toBe("---+-");
      expect(seen.suites[0]).toMatchObject({ codes: [0xc02f, 0xc030], complete: true });
      expect(seen.stoppedAnswering).toBe(false);
    }
  });

  it("stop answering after some connections, and what they refused then is unknown", async () => {
    const { seen } = await scripted(open, {
      versions: { [TLS10]: [0x0035], [TLS12]: [0xc02f, 0xc030, 0x009c, 0x0035] },
      refuse: (socket) => void socket.end(),
      intercept: (socket, _hello, count) => {
        if (count <= 14) return false;
        socket.resetAndDestroy();
        return true;
      },
    });
    expect(seen.stoppedAnswering).toBe(true);
    expect(offered(seen)).toBe("?+?+?");
    expect(seen.suites.every(({ complete }) => !complete)).toBe(true);
    expect(seen.suites.some(({ codes }) => codes.length > 0)).toBe(true);
  });

  it("stop answering half way, and give a partial list in time", async () => {
    const { seen, server } = await scripted(
      open,
      {
        versions: { [TLS12]: [0xc02f, 0xc030, 0x009c, 0x0035, 0x009e, 0x0039] },
        intercept: (_socket, _hello, count) => count > 12,
      },
      { questionMs: 200 },
    );
    expect(seen.suites[0]?.complete).toBe(false);
    expect(server.accepted()).toBeLessThan(40);
  });

  it("have more suites than the maximum number of connections, and give a partial list", async () => {
    const all = [...SUITES.values()].filter(({ tls13 }) => !tls13).map(({ code }) => code);
    const { seen, server } = await scripted(open, { versions: { [TLS12]: all } }, { connections: 50 });
    expect(seen.suites[0]?.complete).toBe(false);
    expect(seen.suites[0]?.codes.length).toBeGreaterThan(30);
    expect(server.accepted()).toBeLessThan(110);
    const { seen: whole } = await scripted(open, { versions: { [TLS12]: all } }, { connections: 400 });
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
    ["an immediate end", (socket) => void socket.end()],
  ])("%s", async (_what, handler) => {
    const seen = await wired(open, handler, { questionMs: 300 });
    expect(NOTHING).toContain(offered(seen));
    expect(seen.suites).toEqual([]);
  });

  it("the same suite for every offer ends the list", async () => {
    const seen = await wired(open, (socket) => void socket.write(helloRecord({ version: TLS12, suite: 0xc02f })));
    expect(offered(seen)).toBe("---+-");
    expect(seen.suites[0]).toMatchObject({ codes: [0xc02f], complete: false });
  });

  it("a version that was not offered counts as a refusal", async () => {
    const seen = await wired(open, (socket) => void socket.write(helloRecord({ version: 0x7f1c, suite: 0x1301 })));
    expect(offered(seen)).toBe("-----");
  });
});
