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
