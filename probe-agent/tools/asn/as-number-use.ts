/** Purpose of an AS number. */
type AsNumberUse = "public" | "private" | "documentation" | "reserved" | "as_trans" | "as112";

interface Range {
  readonly first: number;
  readonly last: number;
  readonly use: AsNumberUse;
  /** Description of the range, with the RFC that defines it. */
  readonly name: string;
}

/** IANA Special-Purpose AS Numbers registry, and the blocks that IANA has not given to any registry. */
const RANGES: readonly Range[] = [
  { first: 0, last: 0, use: "reserved", name: "AS0: must not announce anything (RFC 7607)" },
  { first: 112, last: 112, use: "as112", name: "AS112: answers reverse queries for private addresses (RFC 7534)" },
  { first: 23_456, last: 23_456, use: "as_trans", name: "AS_TRANS: replaces 32-bit numbers in old BGP (RFC 6793)" },
  { first: 64_496, last: 64_511, use: "documentation", name: "For documentation and sample code (RFC 5398)" },
  { first: 64_512, last: 65_534, use: "private", name: "For private use (RFC 6996)" },
  { first: 65_535, last: 65_535, use: "reserved", name: "The last 16-bit number, reserved (RFC 7300)" },
  { first: 65_536, last: 65_551, use: "documentation", name: "For documentation and sample code (RFC 5398)" },
  { first: 65_552, last: 131_071, use: "reserved", name: "Reserved by IANA" },
  { first: 4_200_000_000, last: 4_294_967_294, use: "private", name: "For private use (RFC 6996)" },
  { first: 4_294_967_295, last: 4_294_967_295, use: "reserved", name: "The last 32-bit number, reserved (RFC 7300)" },
];

/** Returns the purpose of an AS number. `name` is null for a public number, whether or not it is registered. */
export function asNumberUse(asn: number): { readonly use: AsNumberUse; readonly name: string | null } {
  const range = RANGES.find(({ first, last }) => asn >= first && asn <= last);
  return range === undefined ? { use: "public", name: null } : { use: range.use, name: range.name };
}

/** Formats an AS number as asdot (RFC 5396 section 2): "high.low" for 32-bit numbers, the number itself for others. */
export function asdot(asn: number): string {
  return asn < 65_536 ? String(asn) : `${Math.floor(asn / 65_536)}.${asn % 65_536}`;
}
