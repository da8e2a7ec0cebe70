import { describe, expect, it } from "vitest";
import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import { echoRequest, parseIncoming } from "#probe-agent/net/icmp/packet.ts";
import { constantSumPayload } from "#probe-agent/net/icmp/probers/icmp.ts";
import { parseSegment, synSegment } from "#probe-agent/net/icmp/probers/tcp-segment.ts";
import { seeded } from "#test/support/seeded.ts";
import { echoReply, icmpError, mplsExtension, quotedIpv4, quotedIpv6 } from "#test/support/icmp-packets.ts";

const COOKIE = Buffer.from("0123456789abcdef", "hex");

describe("echoes", () => {
  it("contain id, sequence number, payload and a correct checksum", () => {
    const request = echoRequest(4, 0x1234, 7, COOKIE);
    expect(request.toString("hex")).toMatch(/^0800....12340007/);
    expect(internetChecksum(request)).toBe(0);
    expect(echoRequest(6, 1, 2, COOKIE)[0]).toBe(128);
  });

  it("are parsed with the TTL left on IPv4, without one on IPv6", () => {
    const reply = parseIncoming(4, echoReply(4, { id: 0x1234, seq: 7, payload: COOKIE, ttl: 57 }));
    expect(reply).toMatchObject({ kind: "echo", id: 0x1234, seq: 7, ttl: 57, checksumOk: true });
    const reply6 = parseIncoming(6, echoReply(6, { id: 0x1234, seq: 7, payload: COOKIE, ttl: 57 }));
    expect(reply6).toMatchObject({ kind: "echo", id: 0x1234, seq: 7, ttl: null });
  });

  it("show damage by their checksum", () => {
    const damaged = echoReply(4, { id: 1, seq: 1, payload: COOKIE, ttl: 64 });
    damaged.writeUInt8(damaged.readUInt8(30) ^ 1, 30);
    expect(parseIncoming(4, damaged)).toMatchObject({ kind: "echo", checksumOk: false });
  });

  it("of one trace all have the same checksum, so that they stay in one flow", () => {
    const sums = [1, 2, 77, 65_535].map((seq) =>
      echoRequest(4, 9, seq, constantSumPayload(COOKIE, seq, 0, 32)).readUInt16BE(2),
    );
    expect(new Set(sums).size).toBe(1);
    const flows = [0, 1, 2].map((flow) =>
      [1, 300].map((seq) => echoRequest(4, 9, seq, constantSumPayload(COOKIE, seq, flow, 32)).readUInt16BE(2)),
    );
    expect(flows.map((each) => new Set(each).size)).toEqual([1, 1, 1]);
    expect(new Set(flows.flat()).size).toBe(3);
  });
});

describe("errors", () => {
  const echo = echoRequest(4, 0x4321, 3, COOKIE);

  it.each([
    [3, "unreachable"],
    [11, "ttl_exceeded"],
    [12, "unreachable"],
  ] as const)("of IPv4 type %d mean %s and quote the echo", (type, meaning) => {
    const error = parseIncoming(4, icmpError(4, { type, code: 1, quote: quotedIpv4(1, "198.18.0.1", echo) }));
    expect(error).toMatchObject({ kind: "error", meaning, type, code: 1, mpls: [] });
    expect(error).toMatchObject({ quoted: { protocol: "icmp", ttl: 1, id: 0x4321, seq: 3, payload: COOKIE } });
  });

  it("of IPv6 are parsed in the same way", () => {
    const quote = quotedIpv6(58, "fd00::1", echoRequest(6, 5, 6, COOKIE));
    const error = parseIncoming(6, icmpError(6, { type: 3, code: 0, quote }));
    expect(error).toMatchObject({ meaning: "ttl_exceeded", quoted: { protocol: "icmp", ttl: 1, id: 5, seq: 6 } });
  });

  it("quote UDP and TCP with the fields that identify a probe", () => {
    const udp = Buffer.from("8000829a00280000", "hex");
    const quoted = parseIncoming(4, icmpError(4, { type: 11, code: 0, quote: quotedIpv4(17, "198.18.0.1", udp) }));
    expect(quoted).toMatchObject({
      quoted: { protocol: "udp", sourcePort: 0x8000, destinationPort: 33_434, length: 40 },
    });
    const tcp = Buffer.from("800001bbdeadbeef", "hex");
    const syn = parseIncoming(4, icmpError(4, { type: 11, code: 0, quote: quotedIpv4(6, "198.18.0.1", tcp) }));
    expect(syn).toMatchObject({ quoted: { protocol: "tcp", destinationPort: 443, sequence: 0xdeadbeef } });
  });

  it("show the MPLS labels that a router adds, with and without the length field of RFC 4884", () => {
    const extension = mplsExtension([
      [16_004, 0, false, 1],
      [299_776, 5, true, 255],
    ]);
    const labels = [
      { label: 16_004, exp: 0, s: false, ttl: 1 },
      { label: 299_776, exp: 5, s: true, ttl: 255 },
    ];
    const quote = Buffer.concat([quotedIpv4(1, "198.18.0.1", echo), Buffer.alloc(128)]).subarray(0, 128);
    const stated = icmpError(4, { type: 11, code: 0, quote, extension, quotedWords: 32 });
    const legacy = icmpError(4, { type: 11, code: 0, quote, extension });
    expect(parseIncoming(4, stated)).toMatchObject({ mpls: labels });
    expect(parseIncoming(4, legacy)).toMatchObject({ mpls: labels });
    const broken = Buffer.from(extension);
    broken.writeUInt8(0xff, 9);
    expect(parseIncoming(4, icmpError(4, { type: 11, code: 0, quote, extension: broken }))).toMatchObject({ mpls: [] });
  });
});

describe("hostile packets", () => {
  it("truncated anywhere are parsed or null, without an exception", () => {
    const whole = icmpError(4, {
      type: 11,
      code: 0,
      quote: Buffer.concat([quotedIpv4(1, "198.18.0.1", echoRequest(4, 1, 1, COOKIE)), Buffer.alloc(84)]),
      extension: mplsExtension([[1, 1, true, 1]]),
      quotedWords: 32,
    });
    for (let length = 0; length <= whole.length; length += 1) {
      for (const version of [4, 6] as const) {
        expect(() => parseIncoming(version, whole.subarray(0, length))).not.toThrow();
        expect(() => parseSegment(version, whole.subarray(0, length))).not.toThrow();
      }
    }
  });

  it("of random octets never throw", () => {
    const octet = seeded(20_260_727);
    for (let round = 0; round < 5_000; round += 1) {
      const bytes = Buffer.from(Array.from({ length: round % 200 }, octet));
      for (const type of [0x45, 11, 3, 1]) {
        if (bytes.length > 0) bytes[0] = type;
        expect(() => [parseIncoming(4, bytes), parseIncoming(6, bytes), parseSegment(4, bytes)]).not.toThrow();
      }
    }
  });
});

describe("TCP segments", () => {
  it("are SYNs with a correct checksum over the pseudo header", () => {
    const source = Buffer.from([127, 0, 0, 1]);
    const destination = Buffer.from([127, 0, 0, 2]);
    const syn = synSegment({ sourcePort: 20_000, destinationPort: 443, sequence: 0xffffffff, source, destination });
    expect(internetChecksum(source, destination, Buffer.from([0, 6, 0, syn.length]), syn)).toBe(0);
    expect(parseSegment(6, syn)).toMatchObject({ sourcePort: 20_000, destinationPort: 443, syn: true, ack: false });
  });
});
