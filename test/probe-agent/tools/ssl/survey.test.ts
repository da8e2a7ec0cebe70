import { afterEach, describe, expect, it } from "vitest";
import { alertRecord } from "#test/servers/tls-handshake.ts";
import { names, offered, scripted, type Closing } from "#test/support/ssl-survey.ts";

const SSL3 = 0x0300;
const TLS10 = 0x0301;
const TLS12 = 0x0303;
const TLS13 = 0x0304;
const open: Closing[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

describe("suites that no library offers any more", () => {
  it("SSL 3 with RC4, 3DES and export suites is reported", async () => {
    const { seen } = await scripted(open, {
      versions: { [SSL3]: [0x000a, 0x0005, 0x0003, 0x0014], [TLS10]: [0x000a] },
    });
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

  it("a server with only GOST or shared keys is found with the rare suites", async () => {
    const { seen } = await scripted(open, { versions: { [TLS12]: [0x0081, 0xc100, 0x008c] } });
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

  it("is the server's across all types of suites", async () => {
    const { seen } = await scripted(open, { versions: { [TLS12]: own, [TLS13]: [0x1303, 0x1301] } });
    expect(seen.suites.map(({ codes, order, ranked, complete }) => [codes, order, ranked, complete])).toEqual([
      [own, "server", true, true],
      [[0x1303, 0x1301], "server", true, true],
    ]);
  });

  it("is the client's if the server has none", async () => {
    const { seen } = await scripted(open, { versions: { [TLS12]: own }, clientOrder: true });
    expect(seen.suites[0]).toMatchObject({ order: "client", ranked: false, complete: true });
    expect(new Set(seen.suites[0]?.codes)).toEqual(new Set(own));
  });
});

describe("groups and features", () => {
  it("are read from HelloRetryRequest, ServerKeyExchange and the prime", async () => {
    const { seen } = await scripted(open, {
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
      stoppedAnswering: false,
    });
  });

  it("always offer an EC key's own curve, without which the server could not use its certificate", async () => {
    const { seen } = await scripted(open, {
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

  it("are null for TLS 1.3 only, which has none of them", async () => {
    const { seen } = await scripted(open, { versions: { [TLS13]: [0x1302] } });
    expect(seen).toMatchObject({ compression: false, secureRenegotiation: null, fallbackScsv: null, primeBits: null });
  });
});
