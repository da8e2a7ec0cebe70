import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";
import type { TraceReply } from "#probe-agent/port/packets.ts";

/** The sent packet that an ICMP error quotes. The fields that identify it depend on its protocol. */
type Quoted = {
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
const PROTOCOL = { icmp: 1, tcp: 6, udp: 17, icmp6: 58 } as const;

/** Parses a quoted datagram: its IP header and at least 8 more octets (RFC 792). Null for anything else. */
function parseQuoted(version: IpVersion, bytes: Buffer): Quoted | null {
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

/** An echo reply (RFC 792, RFC 4443 section 4.2). */
export interface IncomingEcho {
  readonly kind: "echo";
  readonly id: number;
  readonly seq: number;
  /**
   * Remaining TTL. Null on IPv6: its raw sockets return a hop limit only through recvmsg(2) (RFC 3542 section 6.3),
   * raw-socket calls recvfrom(2), and no option replaces it.
   */
  readonly ttl: number | null;
  readonly payload: Buffer;
  /** Whether the checksum is correct. The kernel drops packets with a wrong checksum on IPv6 only. */
  readonly checksumOk: boolean;
}

/** The meaning of an ICMP error, independent of its IP version. */
type ErrorMeaning = "unreachable" | "ttl_exceeded";

/** An ICMP error that quotes a packet of this agent. */
export interface IncomingError {
  readonly kind: "error";
  readonly meaning: ErrorMeaning;
  readonly type: number;
  readonly code: number;
  readonly quoted: Quoted;
  readonly mpls: readonly MplsLabel[];
  /** MTU of the next link in a "too big" error (RFC 1191 section 4, RFC 4443 section 3.2). Null in other errors. */
  readonly nextHopMtu: number | null;
}

/** An echo id that no run uses. */
export const UNUSED_ECHO_ID = 0;

const ECHO_REQUEST = { 4: 8, 6: 128 } as const;
const ECHO_REPLY = { 4: 0, 6: 129 } as const;

/**
 * Error types by family. RFC 792: unreachable, time exceeded, parameter problem. RFC 4443: the same, and packet too big
 * (2).
 */
const ERROR_TYPES: Readonly<Record<IpVersion, ReadonlyMap<number, ErrorMeaning>>> = {
  4: new Map([
    [3, "unreachable"],
    [11, "ttl_exceeded"],
    [12, "unreachable"],
  ]),
  6: new Map([
    [1, "unreachable"],
    [2, "unreachable"],
    [3, "ttl_exceeded"],
    [4, "unreachable"],
  ]),
};

/** Types that a family's socket receives. The kernel drops the others. */
export const WANTED_TYPES: Readonly<Record<IpVersion, readonly number[]>> = {
  4: [ECHO_REPLY[4], ...ERROR_TYPES[4].keys()],
  6: [ECHO_REPLY[6], ...ERROR_TYPES[6].keys()],
};

/** An entry of an MPLS label stack, as quoted by a router (RFC 3032 section 2.1). */
type MplsLabel = NonNullable<TraceReply["mpls"]>[number];

// RFC 4884 section 5.5: routers older than this RFC append the stack at octet 128 without a length field.
const LEGACY_QUOTE_BYTES = 128;
const EXTENSION_VERSION = 2;
const MPLS_CLASS = 1;
const INCOMING_STACK = 1;
const MAX_LABELS = 16;

/** Builds an echo request. On IPv6, the kernel fills in the checksum (RFC 3542 section 3.1). */
export function echoRequest(version: IpVersion, id: number, seq: number, payload: Uint8Array): Buffer {
  const packet = Buffer.alloc(8 + payload.length);
  packet.writeUInt8(ECHO_REQUEST[version], 0);
  packet.writeUInt16BE(id, 4);
  packet.writeUInt16BE(seq, 6);
  packet.set(payload, 8);
  if (version === 4) packet.writeUInt16BE(internetChecksum(packet), 2);
  return packet;
}

/**
 * Parses a packet from a raw ICMP socket: IPv4 with its IP header, IPv6 without. Null if it is malformed or of another
 * type.
 */
export function parseIncoming(version: IpVersion, bytes: Buffer): IncomingEcho | IncomingError | null {
  const headerBytes = version === 4 ? ((bytes[0] ?? 0) & 15) * 4 : 0;
  if (version === 4 && (headerBytes < 20 || bytes.length < 20)) return null;
  const icmp = bytes.subarray(headerBytes);
  if (icmp.length < 8) return null;
  const type = icmp.readUInt8(0);
  if (type === ECHO_REPLY[version]) {
    return {
      kind: "echo",
      id: icmp.readUInt16BE(4),
      seq: icmp.readUInt16BE(6),
      ttl: version === 4 ? bytes.readUInt8(8) : null,
      payload: icmp.subarray(8),
      checksumOk: version === 6 || internetChecksum(icmp) === 0,
    };
  }
  const meaning = ERROR_TYPES[version].get(type);
  if (meaning === undefined || (version === 4 && internetChecksum(icmp) !== 0)) return null;
  const body = icmp.subarray(8);
  const quoted = parseQuoted(version, body);
  if (quoted === null) return null;
  const code = icmp.readUInt8(1);
  const tooBig = version === 4 ? type === 3 && code === 4 : type === 2;
  const nextHopMtu = tooBig ? (version === 4 ? icmp.readUInt16BE(6) : icmp.readUInt32BE(4)) : null;
  // RFC 4884 section 4: length of the quote in 32-bit words (IPv4, octet 5) or 64-bit words (IPv6, octet 4).
  const quotedBytes = version === 4 ? icmp.readUInt8(5) * 4 : icmp.readUInt8(4) * 8;
  const mpls = tooBig ? [] : mplsLabels(body, quotedBytes);
  return { kind: "error", meaning, type, code, quoted, mpls, nextHopMtu };
}

/**
 * Returns the MPLS label stack in an ICMP error (RFC 4884 extension structure, RFC 4950 object), or [] if there is
 * none. `body` is everything after the 8-octet ICMP header. `quotedBytes` is the padded length of the quote, or 0 if
 * the error does not state it.
 */
function mplsLabels(body: Buffer, quotedBytes: number): readonly MplsLabel[] {
  const start = quotedBytes === 0 ? LEGACY_QUOTE_BYTES : quotedBytes;
  const extension = body.subarray(start);
  if (extension.length < 8 || extension.readUInt8(0) >> 4 !== EXTENSION_VERSION) return [];
  // A zero checksum means that none was computed. Without a length field, only a correct checksum proves that there is
  // a stack.
  const unchecked = extension.readUInt16BE(2) === 0;
  if (unchecked ? quotedBytes === 0 : internetChecksum(extension) !== 0) return [];
  return labelsOf(extension.subarray(4));
}

function labelsOf(objects: Buffer): readonly MplsLabel[] {
  const labels: MplsLabel[] = [];
  let rest = objects;
  while (rest.length >= 4) {
    const length = rest.readUInt16BE(0);
    if (length < 4 || length > rest.length) break;
    if (rest.readUInt8(2) === MPLS_CLASS && rest.readUInt8(3) === INCOMING_STACK) {
      for (let at = 4; at + 4 <= length && labels.length < MAX_LABELS; at += 4)
        labels.push(label(rest.readUInt32BE(at)));
    }
    rest = rest.subarray(length);
  }
  return labels;
}

function label(entry: number): MplsLabel {
  return { label: entry >>> 12, exp: (entry >>> 9) & 7, s: (entry & 0x100) !== 0, ttl: entry & 0xff };
}
