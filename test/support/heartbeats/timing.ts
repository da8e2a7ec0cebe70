/** Differences between two classes of times at some quantiles, in milliseconds. */
export type Comparison = readonly { readonly quantile: number; readonly difference: number }[];

const QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9];
/** Largest difference of two classes that count as alike, in milliseconds: small enough to find a whole one for certain. */
const LARGEST = 0.6;

/**
 * Compares times of two classes that were measured in turn. Each quantile is compared within blocks of measurements that
 * were made one after the other; the result is the median of the blocks. So a busy machine slows both classes of a
 * block, and a few disturbed blocks change nothing.
 */
export function compareTimes(one: readonly number[], other: readonly number[], blocks = 20): Comparison {
  const size = Math.floor(Math.min(one.length, other.length) / blocks);
  return QUANTILES.map((quantile) => {
    const differences = Array.from({ length: blocks }, (_, n) => {
      const [from, to] = [n * size, (n + 1) * size];
      return quantileOf(other.slice(from, to), quantile) - quantileOf(one.slice(from, to), quantile);
    });
    return { quantile, difference: quantileOf(differences, 0.5) };
  });
}

/** Above this quantile a busy machine decides, and a difference of all times shows below it too. */
const HIGHEST_DECIDING = 0.75;

/** Reports whether no quantile of two classes, up to the third quartile, differs by anything near a millisecond. */
export function areAlike(comparison: Comparison): boolean {
  return comparison.every(({ quantile, difference }) => quantile > HIGHEST_DECIDING || Math.abs(difference) < LARGEST);
}

/** Returns a quantile of numbers. */
export function quantileOf(values: readonly number[], quantile: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(quantile * sorted.length))] ?? Number.NaN;
}
