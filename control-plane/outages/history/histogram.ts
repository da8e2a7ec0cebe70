// A log-linear histogram of whole milliseconds. Values below 64 have a bucket each; above, every power of two has 32
// buckets, so the middle of a bucket differs from its values by 1/64 (1.6 %) at most. Values of 65,536 ms and more
// count in the last bucket. The database counts the values (history/aggregate-store.ts); this file adds and reads histograms.

/** Number of buckets. */
const BUCKETS = 384;

// Encoding: for each bucket in use a 16-bit big-endian word, the bucket times 64 plus the count minus 1. If the count
// is 64 or more, the low six bits are 63 and a 32-bit count follows. Buckets can be in any order, and one can occur
// several times.
const COUNT_BITS = 6;
const LARGE_COUNT = 63;

/** Number of values in each bucket. */
export type Histogram = Uint32Array;

/** Returns the milliseconds that represent the values of a bucket: its middle. */
function middleOf(bucket: number): number {
  if (bucket < 64) return bucket;
  const shift = (bucket >> 5) - 1;
  return ((bucket - shift * 32) << shift) + (1 << (shift - 1));
}

/** Returns the sum of encoded histograms; null counts as empty. Bytes after the last whole entry are ignored. */
export function mergeHistograms(parts: Iterable<Uint8Array | null>): Histogram {
  const merged = new Uint32Array(BUCKETS);
  for (const bytes of parts) if (bytes !== null) addEncoded(merged, bytes);
  return merged;
}

function addEncoded(histogram: Histogram, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at + 2 <= bytes.byteLength) {
    const word = view.getUint16(at);
    at += 2;
    let count = (word & LARGE_COUNT) + 1;
    if (count > LARGE_COUNT) {
      if (at + 4 > bytes.byteLength) return;
      count = view.getUint32(at);
      at += 4;
    }
    const bucket = word >> COUNT_BITS;
    // A typed array ignores a write past its end: such a bucket is from no release of this product.
    histogram[bucket] = (histogram[bucket] ?? 0) + count;
  }
}

/** Encodes a histogram; null if it is empty. */
export function encodeHistogram(histogram: Histogram): Uint8Array | null {
  const bytes: number[] = [];
  for (const [bucket, count] of histogram.entries()) {
    if (count === 0) continue;
    const word = (bucket << COUNT_BITS) | Math.min(count - 1, LARGE_COUNT);
    bytes.push(word >> 8, word & 0xff);
    if (count > LARGE_COUNT) bytes.push(count >>> 24, (count >>> 16) & 0xff, (count >>> 8) & 0xff, count & 0xff);
  }
  return bytes.length === 0 ? null : Uint8Array.from(bytes);
}

/** Percentiles of response times in milliseconds; null if there are none. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** Returns percentiles by nearest rank: the value at position ceil(fraction x count) in ascending order. */
export function percentilesOf(histogram: Histogram): Percentiles {
  // Loops: a page of 50 monitors asks for 1,200 hours.
  let count = 0;
  for (const one of histogram) count += one;
  const at = (percent: number): number | null => {
    if (count === 0) return null;
    // Whole numbers first: 0.95 x 20 is more than 19 in floating point.
    let rank = Math.ceil((percent * count) / 100);
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      rank -= histogram[bucket] ?? 0;
      if (rank <= 0) return middleOf(bucket);
    }
    return null;
  };
  return { p50: at(50), p95: at(95), p99: at(99) };
}
