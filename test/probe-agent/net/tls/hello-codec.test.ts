import { describe, expect, it } from "vitest";
import type { ClientHello } from "#probe-agent/port/tls.ts";
import { createHelloReader, readEphemeralKey } from "#probe-agent/net/tls/hello/decode.ts";
import { encodeFields, encodeHello, HELLO_RANDOM } from "#probe-agent/net/tls/hello/encode.ts";
import { EXTENSION, keyShares, serverName, signatureAlgorithms } from "#probe-agent/net/tls/hello/extensions.ts";
import { numbers, octets, vector } from "#probe-agent/net/tls/hello/octets.ts";
import { alertRecord, helloRecord, keyExchangeRecord } from "#test/servers/tls-handshake.ts";
import { seeded } from "#test/support/seeded.ts";

const RANDOM = Buffer.alloc(HELLO_RANDOM, 7);

/** RFC 8448 section 3, the ClientHello handshake message. */
const CLIENT_HELLO =
  "010000c00303cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7000006130113031302010000910000000b0009" +
  "000006736572766572ff01000100000a00140012001d0017001800190100010101020103010400230000003300260024001d002099381de560" +
  "e4bd43d23d8e435a7dbafeb3c06e51c13cae4d5413691e529aaf2c002b0003020304000d0020001e0403050306030203080408050806040105" +
  "01060102010402050206020202002d00020101001c00024001";
/** RFC 8448 section 3, the record with the ServerHello. */
const SERVER_HELLO =
  "160303005a020000560303a6af06a4121860dc5e6e60249cd34c95930c8ac5cb1434dac155772ed3e2692800130100002e00330024001d0020" +
  "c9828876112095fe66762bdbf7c672e156d6cc253b833df1dd69b1b04e751f0f002b00020304";
/** RFC 8448 section 5, the record with the HelloRetryRequest. */
const RETRY =
  "16030300b0020000ac0303cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c0013010000840033000200170" +
  "02c0074007271dcd04bb88bc3189119398a00000000eefafc76c146b823b096f8aacad365dd0030953f4edf625636e5f21bb2e23fcc654b" +
  "1b5b40318d10d137abcbb87574e36e8a1f025f7dfa5d6e50781b5eda4aa15b0c8be778257d16aa3030e9e7841dd9e4c0342267e8ca0caf5" +
  "71fb2b7cff0f934b0002b00020304";

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}

function read(records: Uint8Array, flight = false, pieces = records.length) {
  const reader = createHelloReader(flight);
  let over = false;
  for (let at = 0; at < records.length && !over; at += pieces) over = reader.push(records.subarray(at, at + pieces));
  return { ...reader.answer(), over };
}

describe("the encoder", () => {
  it("encodes the ClientHello of RFC 8448 section 3", () => {
    const message = encodeFields({
      version: 0x0303,
      random: bytes("cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7"),
      sessionId: new Uint8Array(),
      suites: [0x1301, 0x1303, 0x1302],
      compression: [0],
      extensions: [
        serverName("server"),
        [EXTENSION.renegotiationInfo, Uint8Array.of(0)],
        [EXTENSION.supportedGroups, vector(2, numbers([29, 23, 24, 25, 256, 257, 258, 259, 260]))],
        [EXTENSION.sessionTicket, new Uint8Array()],
        keyShares([0x001d], bytes("99381de560e4bd43d23d8e435a7dbafeb3c06e51c13cae4d5413691e529aaf2c")),
        [EXTENSION.supportedVersions, vector(1, numbers([0x0304]))],
        signatureAlgorithms([
          0x0403, 0x0503, 0x0603, 0x0203, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0201, 0x0402, 0x0502,
          0x0602, 0x0202,
        ]),
        [EXTENSION.pskModes, Uint8Array.of(1, 1)],
        [28, bytes("4001")],
      ],
    });
    expect(Buffer.from(message).toString("hex")).toBe(CLIENT_HELLO);
  });

  it("sends no extension and no name with SSL 3", () => {
    const hello = { version: 0x0300, servername: "a.example", suites: [0x000a, 0x00ff], groups: [23] };
    const fields = `0300${"07".repeat(32)}000004000a00ff0100`;
    expect(Buffer.from(encodeHello(hello, RANDOM)).toString("hex")).toBe(`160300002f0100002b${fields}`);
  });

  it("pads to the requested length and never truncates", () => {
    const hello: ClientHello = {
      version: 0x0303,
      supportedVersions: [0x0304],
      servername: "a.example",
      suites: [0x1301],
      groups: [29],
      keyShares: [29, 23],
      alpn: ["h2"],
      compression: [1, 0],
    };
    const bare = encodeHello(hello, RANDOM).length - 5;
    for (const padTo of [bare + 4, bare + 5, 512, 16_000]) {
      expect(encodeHello({ ...hello, padTo }, RANDOM)).toHaveLength(padTo + 5);
    }
    expect(encodeHello({ ...hello, padTo: 10 }, RANDOM)).toHaveLength(bare + 5);
  });

  it("splits a message that is too long for one record into several", () => {
    const hello = { version: 0x0303, servername: null, suites: Array.from({ length: 12_000 }, (_, code) => code) };
    const sent = Buffer.from(encodeHello(hello, RANDOM));
    expect([sent.readUInt16BE(3), sent[5 + 16_384], sent.length > 24_000]).toEqual([16_384, 22, true]);
  });
});

describe("the decoder", () => {
  it("reads the ServerHello of RFC 8448 section 3 and the HelloRetryRequest of section 5 in pieces of any size", () => {
    for (const pieces of [1, 3, 7, 1000]) {
      expect(read(bytes(SERVER_HELLO), false, pieces)).toEqual({
        serverHello: {
          version: 0x0304,
          suite: 0x1301,
          retry: false,
          compression: 0,
          extensions: [51, 43],
          group: 0x001d,
          primeBits: null,
          alpn: null,
        },
        alert: null,
        certificates: [],
        over: true,
      });
      const { serverHello, over } = read(bytes(RETRY), false, pieces);
      expect(serverHello).toMatchObject({ version: 0x0304, suite: 0x1301, retry: true, group: 0x0017 });
      expect(over).toBe(true);
    }
  });

  it("reads unencrypted fields before TLS 1.3: compression, extensions, application protocol, key exchange", () => {
    const hello = helloRecord({
      version: 0x0302,
      suite: 0xc013,
      compression: 1,
      extensions: [
        [0xff01, Uint8Array.of(0)],
        [16, vector(2, vector(1, Buffer.from("h2")))],
      ],
    });
    const exchange = keyExchangeRecord(octets(Uint8Array.of(3, 0, 23), vector(1, Buffer.alloc(65))));
    const seen = { version: 0x0302, suite: 0xc013, compression: 1, extensions: [0xff01, 16], alpn: "h2" };
    expect(read(octets(hello, exchange), true)).toMatchObject({ serverHello: { ...seen, group: 23 }, over: true });
    expect(read(hello, true)).toMatchObject({ serverHello: seen, over: false });
    expect(read(octets(hello, exchange))).toMatchObject({ serverHello: { ...seen, group: null }, over: true });
  });

  it("skips warnings and stops at a fatal alert", () => {
    const warning = Uint8Array.of(21, 3, 1, 0, 2, 1, 112);
    expect(read(octets(warning, bytes(SERVER_HELLO)))).toMatchObject({
      serverHello: { suite: 0x1301 },
      alert: { fatal: false, description: 112 },
    });
    const fatal = octets(warning, alertRecord(40), alertRecord(70));
    expect(read(fatal)).toMatchObject({ alert: { fatal: true, description: 40 }, serverHello: null, over: true });
  });

  it("stops at data that is not TLS, at an invalid record, and at an unexpected message", () => {
    for (const answer of [
      Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
      Buffer.alloc(100, 0xa7),
      Uint8Array.of(22, 3, 3, 0xff, 0xff, 2),
      Uint8Array.of(22, 3, 3, 0, 4, 11, 0, 0, 0),
      Uint8Array.of(22, 3, 3, 0, 4, 2, 0, 0, 0),
      Uint8Array.of(23, 3, 3, 0, 1, 0),
    ]) {
      expect(read(answer, true)).toMatchObject({ serverHello: null, over: true });
    }
  });

  it("stops reading endless answers: empty records, and a message with a length of 16 MB", () => {
    for (const record of [
      Uint8Array.of(22, 3, 3, 0, 0),
      octets(Uint8Array.of(22, 3, 3, 0x40, 0, 2, 255), Buffer.alloc(16_382)),
    ]) {
      const reader = createHelloReader(true);
      let sent = 0;
      while (!reader.push(record)) sent += record.length;
      expect(sent).toBeLessThan(300_000);
      expect(reader.answer().serverHello).toBeNull();
    }
  });

  it("reads any octets without an error", () => {
    const random = seeded(20_260_301);
    const base = octets(
      helloRecord({
        version: 0x0303,
        suite: 0x009e,
        compression: 0,
        extensions: [[16, vector(2, vector(1, Buffer.from("h2")))]],
      }),
      keyExchangeRecord(vector(2, Buffer.alloc(256, 255))),
    );
    for (let round = 0; round < 3000; round += 1) {
      const mutated = Uint8Array.from(base);
      for (let change = 0; change < 3; change += 1) {
        mutated[(random() * 256 + random()) % mutated.length] = random();
      }
      const { serverHello } = read(mutated, true, 1 + random());
      expect(serverHello?.primeBits ?? 0).toBeLessThan(600_000);
    }
  });
});

describe("the ephemeral key", () => {
  const prime = (size: number, first: number) => vector(2, octets(Uint8Array.of(0, first), Buffer.alloc(size - 1)));
  it.each([
    ["a named curve", 0xc02f, Uint8Array.of(3, 0, 29, 32), { group: 29, primeBits: null }],
    ["an explicit curve", 0xc02f, Uint8Array.of(1, 0, 29), { group: null, primeBits: null }],
    ["a prime without leading zeros", 0x009e, prime(128, 0x80), { group: null, primeBits: 1024 }],
    ["a prime whose first octet is small", 0x0033, prime(128, 0x01), { group: null, primeBits: 1017 }],
    ["an anonymous exchange", 0x0034, prime(64, 0xff), { group: null, primeBits: 512 }],
    [
      "a hint before the prime (RFC 4279)",
      0x0090,
      octets(vector(2, Buffer.from("hint")), prime(256, 0x80)),
      { group: null, primeBits: 2048 },
    ],
    [
      "a hint before the curve (RFC 5489)",
      0xc035,
      octets(vector(2, Buffer.from("")), Uint8Array.of(3, 0, 23)),
      { group: 23, primeBits: null },
    ],
    ["only zeros", 0x009e, vector(2, Buffer.alloc(8)), { group: null, primeBits: null }],
    ["nothing", 0x009e, new Uint8Array(), { group: null, primeBits: null }],
    ["another key exchange", 0x002f, prime(128, 0x80), { group: null, primeBits: null }],
  ])("is read from %s", (_what, suite, body, expected) => {
    expect(readEphemeralKey(body, suite)).toEqual(expected);
  });
});
