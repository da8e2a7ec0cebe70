const LONGEST_NAME = 200;

/**
 * Returns the names that an export gives to monitors, oldest first: each to one alone. Of several with one name the
 * oldest keeps it; the others get their id appended.
 */
export function exportedNames(
  monitors: readonly { readonly id: number; readonly name: string }[],
): ReadonlyMap<number, string> {
  const taken = new Set(monitors.map(({ name }) => name));
  const kept = new Set<string>();
  const names = new Map<number, string>();
  for (const { id, name } of monitors) {
    let unique = name;
    if (kept.has(name)) {
      for (let mark = ` (${id})`; taken.has(unique); mark += "'") {
        unique = `${name.slice(0, LONGEST_NAME - mark.length).trimEnd()}${mark}`;
      }
    }
    kept.add(name);
    taken.add(unique);
    names.set(id, unique);
  }
  return names;
}
