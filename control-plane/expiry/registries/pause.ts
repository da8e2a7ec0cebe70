const SHORTEST_MS = 60_000;
const LONGEST_MS = 6 * 3_600_000;
/** More doublings make no difference. */
const MOST_DOUBLINGS = 20;

/**
 * Returns how long a registry is not asked after so many questions in a row that it refused or did not answer, in
 * milliseconds. The pause doubles each time and is up to a fifth longer by `luck`, 0 to 1.
 */
export function pauseMs(refusals: number, luck: number): number {
  const doubled = SHORTEST_MS * 2 ** Math.min(Math.max(refusals - 1, 0), MOST_DOUBLINGS);
  return Math.round(Math.min(LONGEST_MS, doubled) * (1 + luck / 5));
}
