/** A buffer that collects octets from pieces of any size. */
interface Octets {
  readonly length: number;
  append(piece: Uint8Array): void;
  /** Returns all octets without a copy. Octets that were returned once do not change later. */
  view(): Buffer;
  /** Removes the first `count` octets. */
  drop(count: number): void;
}

const SMALLEST = 1024;
const EMPTY = Buffer.alloc(0);

/**
 * Creates an empty buffer. Each octet is copied a constant number of times on average, because the buffer doubles when
 * it is full. `Buffer.concat` for each piece copies all octets again: 64 KB in pieces of one octet are 2 GB of copies.
 */
export function createOctets(): Octets {
  let store: Buffer = EMPTY;
  let start = 0;
  let end = 0;
  return {
    get length() {
      return end - start;
    },
    append(piece) {
      const used = end - start;
      if (end + piece.length > store.length) {
        const larger = Buffer.allocUnsafe(Math.max(SMALLEST, 2 * (used + piece.length)));
        store.copy(larger, 0, start, end);
        store = larger;
        [start, end] = [0, used];
      }
      store.set(piece, end);
      end += piece.length;
    },
    view: () => store.subarray(start, end),
    drop(count) {
      start = Math.min(end, start + count);
    },
  };
}
