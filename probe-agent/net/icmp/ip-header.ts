import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** Fields of the IP header of an ICMP packet. */
interface IpFields {
  readonly source: string;
  readonly destination: string;
  /** TTL or hop limit. */
  readonly ttl: number;
  readonly dontFragment?: boolean;
}

const ICMP = { 4: 1, 6: 58 } as const;
const CHECKSUM_OFFSET = 2;
const IPV4_HEADER_BYTES = 20;
const IPV6_HEADER_BYTES = 40;

/**
 * Puts an IP header before an ICMP packet. On IPv4, the kernel fills in the length, the id and the header's checksum
 * (raw(7)). On IPv6 it fills in nothing, so the ICMP checksum is computed here (RFC 4443 section 2.3).
 */
export function withIpHeader(version: IpVersion, packet: Buffer, fields: IpFields): Buffer {
  const [source, destination] = [addressBytes(fields.source), addressBytes(fields.destination)];
  if (version === 4) {
    const header = Buffer.alloc(IPV4_HEADER_BYTES);
    header.writeUInt8(0x45, 0);
    header.writeUInt16BE(fields.dontFragment === true ? 0x4000 : 0, 6);
    header.writeUInt8(fields.ttl, 8);
    header.writeUInt8(ICMP[4], 9);
    source.copy(header, 12);
    destination.copy(header, 16);
    return Buffer.concat([header, packet]);
  }
  const header = Buffer.alloc(IPV6_HEADER_BYTES);
  header.writeUInt8(0x60, 0);
  header.writeUInt16BE(packet.length, 4);
  header.writeUInt8(ICMP[6], 6);
  header.writeUInt8(fields.ttl, 7);
  source.copy(header, 8);
  destination.copy(header, 24);
  const length = Buffer.alloc(8);
  length.writeUInt32BE(packet.length, 0);
  length.writeUInt32BE(ICMP[6], 4);
  const summed = Buffer.from(packet);
  summed.writeUInt16BE(0, CHECKSUM_OFFSET);
  summed.writeUInt16BE(internetChecksum(source, destination, length, summed), CHECKSUM_OFFSET);
  return Buffer.concat([header, summed]);
}
