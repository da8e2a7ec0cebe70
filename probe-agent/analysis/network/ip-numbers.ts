import ipaddr from "ipaddr.js";

/** An IP address as a number. */
export interface IpNumber {
  readonly version: 4 | 6;
  readonly value: bigint;
}

/** Block of the addresses that share the first `prefix` bits of `value`. */
export interface IpBlock extends IpNumber {
  readonly prefix: number;
}

const BITS = { 4: 32, 6: 128 } as const;

/** Parses a plain IP literal. Returns null for other forms, such as 127.1, zones and brackets. */
export function readIp(text: string): IpNumber | null {
  if (text.length > 45 || text.includes("%")) return null;
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !(text.includes(":") && ipaddr.IPv6.isValid(text))) return null;
  const octets = ipaddr.parse(text).toByteArray();
  const value = octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
  return { version: octets.length === 4 ? 4 : 6, value };
}

/** Returns an address in dotted decimal, or for IPv6 in the form of RFC 5952. */
export function ipText({ version, value }: IpNumber): string {
  const octets = Array.from({ length: BITS[version] / 8 }, (_, index) =>
    Number((value >> BigInt(BITS[version] - 8 * (index + 1))) & 0xffn),
  );
  return ipaddr.fromByteArray(octets).toString();
}

/** Parses CIDR notation. Clears the bits after the prefix, because registries also print blocks with such bits. */
export function readBlock(text: string): IpBlock | null {
  const [, address = "", length = ""] = /^([^/]{2,45})\/(\d{1,3})$/.exec(text) ?? [];
  const ip = readIp(address);
  const prefix = Number(length);
  if (ip === null || prefix > BITS[ip.version]) return null;
  return { ...ip, prefix, value: firstOf(ip, prefix) };
}

/** Returns a block in CIDR notation. */
export function blockText(block: IpBlock): string {
  return `${ipText(block)}/${block.prefix}`;
}

/** Reports whether an address is in a block. */
export function isIn(ip: IpNumber, block: IpBlock): boolean {
  return ip.version === block.version && firstOf(ip, block.prefix) === block.value;
}

/** Returns the fewest blocks that make up a range, in order, up to `limit`. Returns [] if the range is invalid. */
export function blocksOf(first: IpNumber, last: IpNumber, limit: number): readonly IpBlock[] {
  if (first.version !== last.version) return [];
  const { version } = first;
  const blocks: IpBlock[] = [];
  let value = first.value;
  while (value <= last.value && blocks.length < limit) {
    let prefix: number = BITS[version];
    // Grow the block while it is aligned to its size and ends within the range.
    while (prefix > 0 && value % sizeOf(version, prefix - 1) === 0n) {
      if (value + sizeOf(version, prefix - 1) - 1n > last.value) break;
      prefix -= 1;
    }
    blocks.push({ version, value, prefix });
    value += sizeOf(version, prefix);
  }
  return blocks;
}

function sizeOf(version: 4 | 6, prefix: number): bigint {
  return 1n << BigInt(BITS[version] - prefix);
}

function firstOf({ version, value }: IpNumber, prefix: number): bigint {
  return value - (value % sizeOf(version, prefix));
}
