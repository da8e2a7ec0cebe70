/** Reports whether a reply is late: after 1 s, or after three times the largest round-trip time if that is longer. */
export function isLate(rttMs: number, largestRttMs: number): boolean {
  return rttMs > Math.max(1_000, 3 * largestRttMs);
}
