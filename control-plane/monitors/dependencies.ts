/** Maximum number of monitors in a chain of dependencies, both ends included. */
const LONGEST_CHAIN = 5;

/**
 * Checks that a monitor may depend on another: without a cycle, and in a chain of at most five. `parents` has the present
 * dependency of each other monitor that has one; `id` is the changed monitor; `children` are those of `parents`. Returns why
 * not; null if it may.
 */
export function findChainProblem<K>(
  parents: ReadonlyMap<K, K>,
  id: K,
  parent: K,
  children: Children<K> = childrenOf(parents),
): string | null {
  let above = 1;
  for (let at: K | undefined = parent; at !== undefined; at = parents.get(at)) {
    if (at === id) return CYCLE;
    above += 1;
    if (above > LONGEST_CHAIN) return TOO_LONG;
  }
  return above + depthBelow(children, id) > LONGEST_CHAIN ? TOO_LONG : null;
}

/** Why a monitor may not depend on itself. */
export const CYCLE = "must not lead back to the monitor itself: that is a cycle";
const TOO_LONG = `makes a chain of more than ${LONGEST_CHAIN} monitors that depend on each other`;

/** The monitors that depend on each. */
type Children<K> = ReadonlyMap<K | undefined, readonly K[]>;

/** Returns the monitors that depend on each: computed once where many are checked. */
export function childrenOf<K>(parents: ReadonlyMap<K, K>): Children<K> {
  return Map.groupBy(parents.keys(), (child) => parents.get(child));
}

/** Returns the length of the longest chain of monitors that depend on this one, at most one more than is allowed. */
function depthBelow<K>(children: Children<K>, id: K): number {
  let level: readonly K[] = [id];
  let depth = -1;
  while (level.length > 0 && depth <= LONGEST_CHAIN) {
    depth += 1;
    level = level.flatMap((one) => children.get(one) ?? []);
  }
  return depth;
}
