/** Reads big-endian fields and length-prefixed vectors (RFC 8446 section 3). Returns undefined past the end. */
export interface Reader {
  /** Reads an unsigned integer of `size` octets. */
  number(size: 1 | 2 | 3): number | undefined;
  /** Reads the next `length` octets. */
  take(length: number): Uint8Array | undefined;
  /** Reads a vector with a length field of `size` octets. */
  vector(size: 1 | 2 | 3): Uint8Array | undefined;
  /** Returns the number of unread octets. */
  left(): number;
}

/** Creates a reader over octets; it never copies them. */
export function createReader(bytes: Uint8Array): Reader {
  let at = 0;
  const take = (length: number): Uint8Array | undefined => {
    if (at + length > bytes.length) return undefined;
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (size: 1 | 2 | 3): number | undefined => take(size)?.reduce((value, octet) => value * 256 + octet, 0);
  return {
    number,
    take,
    vector(size) {
      const length = number(size);
      return length === undefined ? undefined : take(length);
    },
    left: () => bytes.length - at,
  };
}
