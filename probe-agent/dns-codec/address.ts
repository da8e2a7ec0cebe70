import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";

/** Parses a dotted quad into four octets. Throws DecodeError for any other spelling. */
export function parseIpv4(text: string): Uint8Array {
  if (!isIPv4(text)) throw new DecodeError("not an IPv4 address");
  return Uint8Array.from(text.split("."), Number);
}

/** Parses an IPv6 address without a zone into sixteen octets. Throws DecodeError for anything else. */
export function parseIpv6(text: string): Uint8Array {
  if (!isIPv6(text) || text.includes("%")) throw new DecodeError("not an IPv6 address");
  return Uint8Array.from(ipaddr.IPv6.parse(text).toByteArray());
}

/** Formats four octets as a dotted quad. */
export function formatIpv4(octets: Uint8Array): string {
  return octets.join(".");
}

/** Formats sixteen octets in RFC 5952 form. IPv4-mapped addresses end in a dotted quad (section 5). */
export function formatIpv6(octets: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, index) => (octets[2 * index] ?? 0) * 256 + (octets[2 * index + 1] ?? 0));
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return `::ffff:${formatIpv4(octets.subarray(12))}`;
  }
  const run = longestZeroRun(groups);
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (run.length < 2) return text(groups);
  return `${text(groups.slice(0, run.start))}::${text(groups.slice(run.start + run.length))}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > best.length) best = { start: index - length + 1, length };
  }
  return best;
}

/**
 * Returns the name of an address under in-addr.arpa or ip6.arpa (RFC 1035 section 3.5, RFC 3596 section 2.5). Null if
 * `ip` is not an address.
 */
export function arpaName(ip: string): string | null {
  if (isIPv4(ip)) return `${ip.split(".").toReversed().join(".")}.in-addr.arpa`;
  if (!isIPv6(ip) || ip.includes("%")) return null;
  const digits = Array.from(parseIpv6(ip), (octet) => `${(octet & 15).toString(16)}.${(octet >>> 4).toString(16)}`);
  return `${digits.toReversed().join(".")}.ip6.arpa`;
}
