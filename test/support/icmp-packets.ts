// Packets as raw ICMP sockets receive them: IPv4 with its IP header, IPv6 without.
import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

/** Builds an echo reply. */
export function echoReply(
  version: IpVersion,
  fields: { readonly id: number; readonly seq: number; readonly payload: Uint8Array; readonly ttl: number },
): Buffer {
  const icmp = Buffer.alloc(8 + fields.payload.length);
  icmp.writeUInt8(version === 4 ? 0 : 129, 0);
  icmp.writeUInt16BE(fields.id, 4);
  icmp.writeUInt16BE(fields.seq, 6);
  icmp.set(fields.payload, 8);
  return received(version, icmp, fields.ttl);
}

/** Builds an ICMP error with a quoted packet. `quotedWords` is RFC 4884's length field. */
export function icmpError(
  version: IpVersion,
  fields: {
    readonly type: number;
    readonly code: number;
    readonly quote: Uint8Array;
    readonly extension?: Uint8Array;
    readonly quotedWords?: number;
  },
): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(fields.type, 0);
  head.writeUInt8(fields.code, 1);
  head.writeUInt8(fields.quotedWords ?? 0, version === 4 ? 5 : 4);
  return received(version, Buffer.concat([head, fields.quote, fields.extension ?? Buffer.alloc(0)]), 64);
}

/** Builds a datagram from us to `destination` as a router quotes it. */
export function quotedIpv4(protocol: number, destination: string, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt8(0x45, 0);
  header.writeUInt8(1, 8);
  header.writeUInt8(protocol, 9);
  addressBytes(destination).copy(header, 16);
  return Buffer.concat([header, payload]);
}

/** Builds the same for IPv6. */
export function quotedIpv6(nextHeader: number, destination: string, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(40);
  header.writeUInt8(0x60, 0);
  header.writeUInt8(nextHeader, 6);
  header.writeUInt8(1, 7);
  addressBytes(destination).copy(header, 24);
  return Buffer.concat([header, payload]);
}

/**
 * Builds an extension structure with one MPLS object (RFC 4884 section 7, RFC 4950). Entries are label, exp, s, ttl.
 */
export function mplsExtension(entries: readonly (readonly [number, number, boolean, number])[]): Buffer {
  const extension = Buffer.alloc(8 + entries.length * 4);
  extension.writeUInt8(0x20, 0);
  extension.writeUInt16BE(4 + entries.length * 4, 4);
  extension.writeUInt8(1, 6);
  extension.writeUInt8(1, 7);
  entries.forEach(([label, exp, bottom, ttl], index) => {
    extension.writeUInt32BE(label * 4_096 + exp * 512 + (bottom ? 256 : 0) + ttl, 8 + index * 4);
  });
  extension.writeUInt16BE(internetChecksum(extension), 2);
  return extension;
}

function received(version: IpVersion, icmp: Buffer, ttl: number): Buffer {
  if (version === 6) return icmp;
  icmp.writeUInt16BE(internetChecksum(icmp), 2);
  const header = Buffer.alloc(20);
  header.writeUInt8(0x45, 0);
  header.writeUInt8(ttl, 8);
  header.writeUInt8(1, 9);
  return Buffer.concat([header, icmp]);
}
