import { BlockList, isIPv4, isIPv6 } from "node:net";

/** A block of addresses: all with the same first `prefix` bits as `address`. */
export interface Range {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

const FORM = /^([0-9a-fA-F:.]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/;

/** Parses CIDR notation; a bare address is a range of one. null for anything else, including zones and octal digits. */
export function parseRange(text: string): Range | null {
  const [, address = "", length] = FORM.exec(text) ?? [];
  const family = isIPv4(address) ? "ipv4" : isIPv6(address) ? "ipv6" : null;
  if (family === null) return null;
  const bits = family === "ipv4" ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return prefix > bits ? null : { address, prefix, family };
}

/** Parses ranges; throws a RangeError that names the first invalid one. */
export function parseRanges(texts: readonly string[]): readonly Range[] {
  return texts.map((text) => {
    const range = parseRange(text);
    if (range === null) throw new RangeError(`${JSON.stringify(text.slice(0, 60))} is not an address range (CIDR)`);
    return range;
  });
}

/** Creates a list of one family. IPv4 rules of a BlockList also match mapped IPv6, so each list has one family only. */
export function listOf(family: Range["family"], ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    if (range.family === family) list.addSubnet(range.address, range.prefix, family);
  }
  return list;
}

/** Returns the IPv6 ranges that a NAT64 gateway translates to these IPv4 ranges (64:ff9b::/96, RFC 6052 section 2.2). */
export function translated(ranges: readonly Range[]): readonly Range[] {
  return ranges
    .filter(({ family }) => family === "ipv4")
    .map(({ address, prefix }) => ({ address: `64:ff9b::${address}`, prefix: 96 + prefix, family: "ipv6" }));
}
