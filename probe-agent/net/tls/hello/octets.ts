/** Joins octet strings. */
export function octets(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

/** Encodes a number in two octets, big-endian. */
export function uint16(value: number): Uint8Array {
  return Uint8Array.of((value >> 8) & 0xff, value & 0xff);
}

/** Encodes numbers in two octets each. */
export function numbers(values: readonly number[]): Uint8Array {
  return octets(...values.map(uint16));
}

/** Encodes a value with a length field of `size` octets (RFC 8446 section 3.4). */
export function vector(size: 1 | 2 | 3, value: Uint8Array): Uint8Array {
  const { length } = value;
  const prefix = [(length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff].slice(3 - size);
  return octets(Uint8Array.from(prefix), value);
}
