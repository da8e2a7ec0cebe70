/** Maximum length of a name that is compared, in characters. */
const LONGEST = 50;

/**
 * Returns the known name that is nearest to a mistyped one; null if none is near. At most a third of the name's length
 * in edits is accepted, at least one. Case is ignored.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > LONGEST) return null;
  const given = name.toLowerCase();
  let nearest: string | null = null;
  let least = Infinity;
  for (const candidate of known) {
    const limit = Math.min(Math.max(1, Math.floor(given.length / 3)), given.length - 1, candidate.length - 1);
    const distance = candidate.length > LONGEST ? Infinity : editDistance(given, candidate.toLowerCase());
    if (distance <= limit && distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/**
 * Computes the optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours cost one
 * (Damerau 1964; Wagner and Fischer 1974 for the table).
 */
function editDistance(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current: number[] = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          (last[column] ?? Infinity) + 1,
          (current[column - 1] ?? Infinity) + 1,
          (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
          isSwap ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? Infinity;
}
