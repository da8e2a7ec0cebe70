import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** The fixed header of a TCP segment (RFC 9293 section 3.1). */
interface Segment {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly acknowledgement: number;
  readonly syn: boolean;
  readonly ack: boolean;
  readonly rst: boolean;
}

const HEADER_BYTES = 24;
const FLAG = { syn: 0x02, rst: 0x04, ack: 0x10 } as const;
const WINDOW = 64_240;
const MSS_OPTION = Buffer.from([2, 4, 0x05, 0xb4]);
const PROTOCOL_TCP = 6;

/**
 * Builds a SYN with a maximum segment size of 1460, as ordinary clients do. `source` is null if the kernel computes the
 * checksum.
 */
export function synSegment(fields: {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly sequence: number;
  readonly source: Buffer | null;
  readonly destination: Buffer;
}): Buffer {
  const segment = Buffer.alloc(HEADER_BYTES);
  segment.writeUInt16BE(fields.sourcePort, 0);
  segment.writeUInt16BE(fields.destinationPort, 2);
  segment.writeUInt32BE(fields.sequence, 4);
  segment.writeUInt8((HEADER_BYTES / 4) << 4, 12);
  segment.writeUInt8(FLAG.syn, 13);
  segment.writeUInt16BE(WINDOW, 14);
  MSS_OPTION.copy(segment, 20);
  if (fields.source !== null) {
    const pseudoHeader = Buffer.from([0, PROTOCOL_TCP, 0, HEADER_BYTES]);
    segment.writeUInt16BE(internetChecksum(fields.source, fields.destination, pseudoHeader, segment), 16);
  }
  return segment;
}

/** Parses a packet from a raw TCP socket: IPv4 with its IP header, IPv6 without. Returns null if it is truncated. */
export function parseSegment(version: IpVersion, packet: Buffer): Segment | null {
  const headerBytes = version === 4 ? ((packet[0] ?? 0) & 15) * 4 : 0;
  const segment = packet.subarray(headerBytes);
  if ((version === 4 && headerBytes < 20) || segment.length < 20) return null;
  const flags = segment.readUInt8(13);
  return {
    sourcePort: segment.readUInt16BE(0),
    destinationPort: segment.readUInt16BE(2),
    acknowledgement: segment.readUInt32BE(8),
    syn: (flags & FLAG.syn) !== 0,
    ack: (flags & FLAG.ack) !== 0,
    rst: (flags & FLAG.rst) !== 0,
  };
}

// Below Linux's ephemeral range, so the kernel does not assign these ports to other connections of this host.
const FIRST_SOURCE_PORT = 20_000;
const SOURCE_PORTS = 12_000;

/**
 * Returns the first of `count` consecutive source ports from 20,000 to 31,999 of which none is taken; null if there are
 * none. The search begins at a port that `random` decides, an integer from 0. Two traces with one port would each
 * receive only a part of the answers.
 */
export function findFreePorts(isTaken: (port: number) => boolean, random: number, count: number): number | null {
  const starts = SOURCE_PORTS - count + 1;
  for (let step = 0; step < starts; step += 1) {
    const first = FIRST_SOURCE_PORT + ((random + step) % starts);
    if (Array.from({ length: count }, (_, flow) => first + flow).every((port) => !isTaken(port))) return first;
  }
  return null;
}
