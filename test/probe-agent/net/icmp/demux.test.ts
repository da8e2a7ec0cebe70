import { describe, expect, it } from "vitest";
import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import { createDemux } from "#probe-agent/net/icmp/demux.ts";
import { echoRequest, parseIncoming } from "#probe-agent/net/icmp/packet.ts";
import { icmpError, mplsExtension, quotedIpv4, quotedIpv6 } from "#test/support/icmp-packets.ts";
import { seeded } from "#test/support/seeded.ts";

const COOKIE = Buffer.from("0123456789abcdef", "hex");

describe("damaged packets", () => {
  it("with any octets changed are passed to the run they seem to belong to, without an error", () => {
    const octet = seeded(7);
    const whole = {
      4: icmpError(4, { type: 11, code: 0, quote: quotedIpv4(1, "198.18.0.1", echoRequest(4, 77, 1, COOKIE)) }),
      6: icmpError(6, { type: 2, code: 0, quote: quotedIpv6(58, "fd00::1", echoRequest(6, 77, 1, COOKIE)) }),
    };
    let heard = 0;
    const demux = createDemux(() => 77);
    demux.listenEcho({ onEcho: () => (heard += 1), onError: () => (heard += 1) });
    demux.listenPort("udp", 77, { onError: () => (heard += 1) });
    const arrival = { from: "fe80::1%eth0", at: 0 };
    demux.deliver(6, whole[6], arrival);
    expect(heard).toBe(1);
    for (let round = 0; round < 20_000; round += 1) {
      for (const version of [4, 6] as const) {
        const packet = Buffer.concat([whole[version], Buffer.alloc(octet())]);
        for (let change = 0; change < 4; change += 1) packet[octet() % packet.length] = octet();
        demux.deliver(version, packet, arrival);
      }
    }
    demux.deliver(4, Buffer.alloc(65_535, 0xff), arrival);
    demux.deliver(6, Buffer.alloc(65_535, 1), arrival);
    demux.deliver(4, Buffer.alloc(0), arrival);
    expect(heard).toBeGreaterThan(1);
  });

  it("with wrong lengths show no labels beyond their end", () => {
    const extension = mplsExtension([[1, 1, true, 1]]);
    extension.writeUInt16BE(0xffff, 4);
    extension.writeUInt16BE(0, 2);
    const quote = Buffer.concat([quotedIpv4(1, "198.18.0.1", echoRequest(4, 1, 1, COOKIE)), Buffer.alloc(128)]);
    for (const quotedWords of [0, 32, 255]) {
      const error = icmpError(4, { type: 11, code: 0, quote: quote.subarray(0, 128), extension, quotedWords });
      expect(parseIncoming(4, error)).toMatchObject({ mpls: [] });
    }
  });
});

describe("errors about size", () => {
  it("contain the next link's MTU in either family, and other errors do not", () => {
    const quote = quotedIpv4(1, "198.18.0.1", echoRequest(4, 1, 1, COOKIE));
    const needed = icmpError(4, { type: 3, code: 4, quote });
    needed.writeUInt16BE(1_400, 26);
    needed.writeUInt16BE(0, 22);
    needed.writeUInt16BE(internetChecksum(needed.subarray(20)), 22);
    expect(parseIncoming(4, needed)).toMatchObject({ meaning: "unreachable", nextHopMtu: 1_400 });
    const tooBig = icmpError(6, { type: 2, code: 0, quote: quotedIpv6(58, "fd00::1", echoRequest(6, 1, 1, COOKIE)) });
    tooBig.writeUInt32BE(1_280, 4);
    expect(parseIncoming(6, tooBig)).toMatchObject({ meaning: "unreachable", nextHopMtu: 1_280 });
    expect(parseIncoming(4, icmpError(4, { type: 3, code: 1, quote }))).toMatchObject({ nextHopMtu: null });
  });
});

describe("errors that no run waits for", () => {
  it("are kept while they are new, to explain why a TCP connection failed", () => {
    const demux = createDemux(() => 7);
    const refuse = (localPort: number): void => {
      const tcp = Buffer.alloc(8);
      tcp.writeUInt16BE(localPort, 0);
      tcp.writeUInt16BE(443, 2);
      const error = icmpError(4, { type: 3, code: 13, quote: quotedIpv4(6, "198.18.0.1", tcp) });
      demux.deliver(4, error, { from: "198.18.0.254", at: 0 });
    };
    const asked = { ip: "198.18.0.1", port: 443, localPort: 40_000 };
    expect(demux.findRefusal(asked)).toBeNull();
    refuse(40_000);
    expect(demux.findRefusal(asked)).toEqual({ from: "198.18.0.254", type: 3, code: 13 });
    for (const other of [{ ip: "198.18.0.2" }, { port: 80 }, { localPort: 1 }]) {
      expect(demux.findRefusal({ ...asked, ...other })).toBeNull();
    }
    for (let port = 41_000; port < 41_300; port += 1) refuse(port);
    expect(demux.findRefusal(asked)).toBeNull();
    expect(demux.findRefusal({ ...asked, localPort: 41_299 })).not.toBeNull();
  });
});
