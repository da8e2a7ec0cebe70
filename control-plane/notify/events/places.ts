import { listAll } from "#shared/text/list.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** Maximum length of the name of a location. */
const MOST_LOCATION = 40;
/** Largest number of locations that are named; more are counted. */
const MOST_NAMED = 3;
/** What stands before locations in a cause. */
const FROM = " from ";

/** Names a few locations, such as " from a, b and c"; of more it says how many of all they are. */
export function fromPlaces(locations: readonly string[], total: number): string {
  if (locations.length > MOST_NAMED) {
    const all = locations.length === total ? `all ${total}` : `${locations.length} of ${total}`;
    return `${FROM}${all} locations`;
  }
  return `${FROM}${listAll(locations)}`;
}

/** Says that the locations before it are one, the only one of all that could check. */
export function aloneOf(total: number): string {
  return `, the only one of ${total} locations that could check`;
}

/** Returns the name of a location as causes have it. */
export function nameLocation(location: string): string {
  return toPlainLine(location, MOST_LOCATION) || "a location without a name";
}

/** Counts locations in words. */
export function countLocations(count: number): string {
  return count === 1 ? "1 location" : `${count} locations`;
}

const COUNTED = /^(?:all \d{1,6}|\d{1,6} of \d{1,6}) locations/;
const ALONE = /^, the only one of \d{1,6} locations that could check/;

/**
 * Returns a cause without its locations, for a subject: "HTTP 503 instead of 200" of "HTTP 503 instead of 200 from
 * eu-west and us-east". `locations` are those that fail.
 */
export function withoutPlaces(cause: string, locations: readonly string[]): string {
  // The longest first: one name can be the beginning of another.
  const names = locations.map(nameLocation).toSorted((a, b) => b.length - a.length);
  const [first = "", ...parts] = cause.split(FROM);
  return parts.reduce((kept, part) => {
    const rest = skipPlaces(part, names);
    return kept + (rest === null ? `${FROM}${part}` : rest.replace(ALONE, ""));
  }, first);
}

/** Returns what follows the locations at the beginning of a text; null if it does not begin with any. */
function skipPlaces(text: string, names: readonly string[]): string | null {
  const counted = COUNTED.exec(text)?.[0];
  if (counted !== undefined) return text.slice(counted.length);
  let rest: string | null = null;
  for (let next = text; ;) {
    const name = names.find((one) => next.startsWith(one));
    if (name === undefined) return rest;
    rest = next.slice(name.length);
    const joint = [", ", " and "].find((one) => rest?.startsWith(one));
    if (joint === undefined) return rest;
    next = rest.slice(joint.length);
  }
}
