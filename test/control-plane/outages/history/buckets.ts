import { mergeHistograms, type Histogram } from "#control-plane/outages/history/histogram.ts";

/** Returns the bucket of a number of milliseconds. */
export function bucketOf(ms: number): number {
  const whole = Math.min(Math.max(ms, 0), 65_535);
  if (whole < 64) return whole;
  const octave = Math.floor(Math.log2(whole));
  // 64 exact buckets, then 32 for each power of two.
  return 64 + (octave - 6) * 32 + Math.floor((whole / 2 ** octave - 1) * 32);
}

/** Returns the histogram of values. */
export function histogramOf(values: readonly number[]): Histogram {
  const histogram = mergeHistograms([]);
  for (const value of values) histogram[bucketOf(value)] = (histogram[bucketOf(value)] ?? 0) + 1;
  return histogram;
}
