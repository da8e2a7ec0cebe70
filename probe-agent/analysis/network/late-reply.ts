/** An answer is late after a second, or three times the largest round trip seen where that is longer. */
export function isLate(rttMs: number, largestRttMs: number): boolean {
  return rttMs > Math.max(1_000, 3 * largestRttMs);
}
