import { listFirst } from "#shared/text/list.ts";
import { slug, matchesTerm, type LocationItem, type Place } from "#shared/internet/locations.ts";
import { nearestName } from "#shared/text/nearest-name.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";

/** Maximum number of names listed in one message. */
const MOST_NAMES = 30;

/**
 * Returns the problem of an item that matches no probe. The message has the nearest known name and the known locations:
 * regions, then countries, then cities. `places` are those that the caller is allowed to use, online or not.
 */
export function unknownLocation(item: LocationItem, places: readonly Place[]): FieldProblem {
  const problem = (message: string): FieldProblem => ({ field: "locations", reason: "unknown_location", message });
  const asked = JSON.stringify(item.text);
  if (places.length === 0) return problem(`no probe matches ${asked}: no probe is enrolled yet`);
  const names = namesOf(places);
  const nearest = nearestTo(item, places, names);
  const hint = nearest === null ? "" : ` Did you mean ${nearest}?`;
  return problem(`no probe matches ${asked}.${hint} Known locations: ${listFirst(names, MOST_NAMES)}`);
}

function namesOf(places: readonly Place[]): readonly string[] {
  const sorted = (values: readonly (string | null)[]) =>
    [...new Set(values.filter((value) => value !== null))].toSorted();
  return [
    ...new Set([
      ...sorted(places.map(({ region }) => region)),
      ...sorted(places.map(({ country }) => country)),
      ...sorted(places.map(({ city }) => (city === null ? null : slug(city)))),
    ]),
  ].filter((name) => name !== "");
}

/** Returns the known name nearest to the first word with a near name that no place matches; null if none is near. */
function nearestTo(item: LocationItem, places: readonly Place[], names: readonly string[]): string | null {
  for (const term of item.terms) {
    if (term.kind !== "word" || places.some((place) => matchesTerm(place, { ...term, negated: false }))) continue;
    const nearest = nearestName(term.word, names);
    if (nearest !== null) return nearest;
  }
  return null;
}
