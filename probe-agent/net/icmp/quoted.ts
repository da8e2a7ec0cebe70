import type { IpVersion } from "#probe-agent/port/address.ts";

/** The sent packet that an ICMP error quotes. The fields that identify it depend on its protocol. */
export type Quoted = {
  readonly destination: Buffer;
  /** TTL or hop limit that was left when the packet was quoted. */
  readonly ttl: number;
} & (
  | {
      readonly protocol: "icmp";
      readonly id: number;
      readonly seq: number;
      /** Part of the echo's payload that the router quoted. Often empty. */
      readonly payload: Buffer;
    }
  | {
      readonly protocol: "udp";
      readonly sourcePort: number;
      readonly destinationPort: number;
      /** Length field of the UDP header: 8 plus the payload. */
      readonly length: number;
    }
  | {
      readonly protocol: "tcp";
      readonly sourcePort: number;
      readonly destinationPort: number;
      readonly sequence: number;
    }
);

const ECHO_REQUEST = { 4: 8, 6: 128 } as const;
const PROTOCOL = { icmp: 1, tcp: 6, udp: 17, icmp6: 58 } as const;

/** Parses a quoted datagram: its IP header and at least 8 more octets (RFC 792). Null for anything else. */
export function parseQuoted(version: IpVersion, bytes: Buffer): Quoted | null {
  const header = version === 4 ? headerOfIpv4(bytes) : headerOfIpv6(bytes);
  if (header === null) return null;
  const { destination, ttl, protocol, rest } = header;
  const ip = { destination, ttl };
  if (rest.length < 8) return null;
  const ports = { sourcePort: rest.readUInt16BE(0), destinationPort: rest.readUInt16BE(2) };
  switch (protocol) {
    case PROTOCOL.udp:
      return { protocol: "udp", ...ip, ...ports, length: rest.readUInt16BE(4) };
    case PROTOCOL.tcp:
      return { protocol: "tcp", ...ip, ...ports, sequence: rest.readUInt32BE(4) };
    case version === 4 ? PROTOCOL.icmp : PROTOCOL.icmp6:
      if (rest.readUInt8(0) !== ECHO_REQUEST[version]) return null;
      return {
        protocol: "icmp",
        ...ip,
        id: rest.readUInt16BE(4),
        seq: rest.readUInt16BE(6),
        payload: rest.subarray(8),
      };
    default:
      return null;
  }
}

interface Header {
  readonly destination: Buffer;
  readonly ttl: number;
  readonly protocol: number;
  readonly rest: Buffer;
}

function headerOfIpv4(bytes: Buffer): Header | null {
  if (bytes.length < 20 || bytes.readUInt8(0) >> 4 !== 4) return null;
  const length = (bytes.readUInt8(0) & 15) * 4;
  if (length < 20) return null;
  return {
    destination: bytes.subarray(16, 20),
    ttl: bytes.readUInt8(8),
    protocol: bytes.readUInt8(9),
    rest: bytes.subarray(length),
  };
}

// The agent sends no extension headers, so the quote contains none.
function headerOfIpv6(bytes: Buffer): Header | null {
  if (bytes.length < 40 || bytes.readUInt8(0) >> 4 !== 6) return null;
  return {
    destination: bytes.subarray(24, 40),
    ttl: bytes.readUInt8(7),
    protocol: bytes.readUInt8(6),
    rest: bytes.subarray(40),
  };
}
