import { describe, expect, it } from "vitest";
import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import { withIpHeader } from "#probe-agent/net/icmp/ip-header.ts";
import { echoRequest } from "#probe-agent/net/icmp/packet.ts";

describe("the IP header of an ICMP packet", () => {
  it("over IPv4 has addresses, TTL and DF; the kernel fills in the rest", () => {
    const echo = echoRequest(4, 1, 2, Buffer.from("payload"));
    const fields = { source: "192.0.2.1", destination: "198.51.100.2", ttl: 9 };
    const packet = withIpHeader(4, echo, { ...fields, dontFragment: true });
    expect(packet.subarray(0, 20).toString("hex")).toBe("450000000000400009010000c0000201c6336402");
    expect(packet.subarray(20)).toEqual(echo);
    expect(withIpHeader(4, echo, fields).readUInt16BE(6)).toBe(0);
  });

  it("over IPv6 has the length too, and the checksum of ICMP covers the addresses", () => {
    const echo = echoRequest(6, 1, 2, Buffer.from("payload"));
    const packet = withIpHeader(6, echo, { source: "2001:db8::1", destination: "2001:db8::2", ttl: 9 });
    expect(packet.subarray(0, 8).toString("hex")).toBe("60000000000f3a09");
    // RFC 8200 section 8.1: the addresses, the length, three zero octets and the next header.
    const pseudo = Buffer.concat([packet.subarray(8, 40), Buffer.from("0000000f0000003a", "hex")]);
    expect(internetChecksum(pseudo, packet.subarray(40))).toBe(0);
    expect(packet.subarray(44)).toEqual(echo.subarray(4));
  });
});
