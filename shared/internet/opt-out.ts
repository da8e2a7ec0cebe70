import ipaddr from "ipaddr.js";
import { literalFamily } from "#shared/egress/addresses.ts";
import type { Denials } from "#shared/internet/egress.ts";
import { readSuffix } from "#shared/egress/names.ts";
import { parseRange, type Range } from "#shared/egress/ranges.ts";

/** Maximum number of entries in a list. */
export const MAX_OPT_OUT_ENTRIES = 200_000;
const MAX_LINE = 1_000;

/** A parsed list, or the number (from 1) of the first invalid line and the reason. */
export type ReadOptOut =
  | { readonly ok: true; readonly denials: Denials; readonly entries: number }
  | { readonly ok: false; readonly line: number; readonly message: string };

/** Denies no target. Used if there is no opt-out list. */
export const NO_OPT_OUTS: Denials = { deniesAddress: () => false, deniesName: () => false };

/**
 * Parses an opt-out list (VANTAGE_OPT_OUT_FILE). Each line has a domain, which includes its subdomains, an address or a
 * CIDR range. `#` begins a comment. The cost of a lookup does not depend on the length of the list.
 */
export function parseOptOut(text: string): ReadOptOut {
  const names = new Set<string>();
  const blocks = createBlocks();
  let entries = 0;
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = index + 1;
    if (raw.length > MAX_LINE) return { ok: false, line, message: `is longer than ${MAX_LINE} characters` };
    const entry = (raw.split("#", 1)[0] ?? "").trim();
    if (entry === "") continue;
    entries += 1;
    if (entries > MAX_OPT_OUT_ENTRIES)
      return { ok: false, line, message: `the list has more than ${MAX_OPT_OUT_ENTRIES} entries` };
    const range = parseRange(entry);
    if (range !== null) blocks.add(range);
    else {
      const name = tryName(entry);
      if (name === null)
        return { ok: false, line, message: "is not a domain, an address or a range such as 192.0.2.0/24" };
      names.add(name);
    }
  }
  const denials: Denials = {
    deniesAddress: (ip) => blocks.has(ip),
    deniesName: (name) => names.size > 0 && isCovered(names, name),
  };
  return { ok: true, denials, entries };
}

function tryName(entry: string): string | null {
  try {
    return readSuffix(entry);
  } catch {
    return null; // readSuffix throws on an invalid name
  }
}

function isCovered(names: ReadonlySet<string>, name: string): boolean {
  for (let rest = name; ; rest = rest.slice(rest.indexOf(".") + 1)) {
    if (names.has(rest)) return true;
    if (!rest.includes(".")) return false;
  }
}

interface Numbered {
  readonly family: "ipv4" | "ipv6";
  readonly bits: number;
  readonly value: bigint;
}

/** Creates a set of address blocks by prefix length. A lookup tests one set for each length in use. */
function createBlocks() {
  const byLength = { ipv4: new Map<number, Set<bigint>>(), ipv6: new Map<number, Set<bigint>>() };
  const holds = ({ family, bits, value }: Numbered): boolean => {
    for (const [length, prefixes] of byLength[family]) {
      if (prefixes.has(value >> BigInt(bits - length))) return true;
    }
    return false;
  };
  return {
    add({ address, prefix, family }: Range): void {
      const { bits, value } = numberOf(address, family);
      const prefixes = byLength[family].get(prefix) ?? new Set();
      prefixes.add(value >> BigInt(bits - prefix));
      byLength[family].set(prefix, prefixes);
    },
    has(ip: string): boolean {
      const family = literalFamily(ip);
      if (family === null || byLength.ipv4.size + byLength.ipv6.size === 0) return false;
      const number = numberOf(ip, family);
      const inside = family === "ipv6" ? embedded(number.value) : null;
      return holds(number) || (inside !== null && holds(inside));
    },
  };
}

/**
 * Returns the IPv4 address inside a mapped (::ffff:0:0/96) or translated address (64:ff9b::/96, RFC 6052 section 2.1),
 * which is the same host.
 */
function embedded(value: bigint): Numbered | null {
  const high = value >> 32n;
  if (high !== 0xffffn && high !== 0x64_ff9b_0000_0000_0000_0000n) return null;
  return { family: "ipv4", bits: 32, value: value & 0xffff_ffffn };
}

function numberOf(address: string, family: Numbered["family"]): Numbered {
  const octets = ipaddr.parse(address).toByteArray();
  const value = octets.reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n);
  return { family, bits: family === "ipv4" ? 32 : 128, value };
}
