/** Maximum number of monitors in a chain of dependencies, both ends included. */
const LONGEST_CHAIN = 5;

/**
 * Checks that a monitor may depend on another: without a cycle, and in a chain of at most five. `parents` has the present
 * dependency of each other monitor that has one; `id` is the changed monitor. Returns why not; null if it may.
 */
export function findChainProblem<K>(parents: ReadonlyMap<K, K>, id: K, parent: K): string | null {
  let above = 1;
  for (let at: K | undefined = parent; at !== undefined; at = parents.get(at)) {
    if (at === id) return "must not lead back to the monitor itself: that is a cycle";
    above += 1;
    if (above > LONGEST_CHAIN) return TOO_LONG;
  }
  return above + depthBelow(parents, id) > LONGEST_CHAIN ? TOO_LONG : null;
}

const TOO_LONG = `makes a chain of more than ${LONGEST_CHAIN} monitors that depend on each other`;

/** Returns the length of the longest chain of monitors that depend on this one, at most one more than is allowed. */
function depthBelow<K>(parents: ReadonlyMap<K, K>, id: K): number {
  const children = Map.groupBy(parents.keys(), (child) => parents.get(child));
  let level: readonly K[] = [id];
  let depth = -1;
  while (level.length > 0 && depth <= LONGEST_CHAIN) {
    depth += 1;
    level = level.flatMap((one) => children.get(one) ?? []);
  }
  return depth;
}
