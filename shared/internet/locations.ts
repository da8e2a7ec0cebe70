import { CONTINENTS, continentOf } from "#shared/internet/continents.ts";
import { readItem, type Item, type ItemTerm } from "#shared/locations/item.ts";
import { slug } from "#shared/locations/slug.ts";

/** Location of a probe, as the probe reported it; null fields are unknown. */
export interface Place {
  readonly probe_id: string;
  /** The operator's name of the region, e.g. eu-west. */
  readonly region: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  readonly city: string | null;
  /** Number of the autonomous system. */
  readonly asn: number | null;
  /** Degrees, north positive. */
  readonly latitude: number | null;
  /** Degrees, east positive. */
  readonly longitude: number | null;
  readonly tags: readonly string[];
}

/** One condition on a place. */
type Term = ItemTerm;

/** One item of a location expression. */
export type LocationItem = Item;

/** A parsed expression, or the invalid item and the reason. */
type ParsedLocations =
  | { readonly ok: true; readonly items: readonly LocationItem[] }
  | { readonly ok: false; readonly message: string; readonly item: string };

/** Maximum number of items of an expression. */
export const MOST_LOCATIONS = 50;
const MAX_ITEM_LENGTH = 200;

/** Parses a location expression: a comma-separated list, or the items of a JSON array. */
export function parseLocations(raw: string | readonly string[]): ParsedLocations {
  const refuse = (message: string, item: unknown): ParsedLocations => ({
    ok: false,
    message,
    item: typeof item === "string" ? item.slice(0, MAX_ITEM_LENGTH) : "",
  });
  const texts: readonly unknown[] = typeof raw === "string" ? raw.split(",", MOST_LOCATIONS + 1) : raw;
  if (!Array.isArray(texts)) return refuse("must be a comma-separated list or an array of strings", "");
  if (texts.length === 0) return refuse("must contain at least one location", "");
  if (texts.length > MOST_LOCATIONS) return refuse(`must have at most ${MOST_LOCATIONS} items`, texts[MOST_LOCATIONS]);
  const items: LocationItem[] = [];
  for (const text of texts) {
    if (typeof text !== "string") return refuse("must be a comma-separated list or an array of strings", "");
    if (text.length > MAX_ITEM_LENGTH) return refuse(`an item has at most ${MAX_ITEM_LENGTH} characters`, text);
    const read = readItem(text);
    if (!read.ok) return refuse(read.message, text);
    items.push(read.item);
  }
  const nothingLeft = items.every((item) => item.kind === "remove");
  if (nothingLeft) return refuse("nothing to remove from: add a location, for example all", items[0]?.text);
  return { ok: true, items };
}

/** Reports whether a place satisfies a term; a negated term is satisfied if its condition is not. */
export function matchesTerm(place: Place, term: Term): boolean {
  return meets(place, term) !== term.negated;
}

/** Reports whether a place satisfies all terms of an item. */
export function matches(place: Place, item: LocationItem): boolean {
  return item.terms.every((term) => matchesTerm(place, term));
}

/**
 * Reports whether a term is valid regardless of the attached probes, because it is not a word that only a probe can
 * define.
 */
export function isUniversal(term: Term): boolean {
  if (term.kind !== "word") return true;
  return continentOf(term.word.toUpperCase()) !== null || (CONTINENTS as readonly string[]).includes(term.word);
}

function meets(place: Place, term: Term): boolean {
  if (term.kind === "asn") return place.asn === term.asn;
  if (term.kind === "probe") return place.probe_id.toLowerCase() === term.id;
  return wordsOf(place).has(term.word);
}

// Cache of a place's words, because many terms are compared with one place.
const indexed = new WeakMap<Place, ReadonlySet<string>>();

function wordsOf(place: Place): ReadonlySet<string> {
  const known = indexed.get(place);
  if (known !== undefined) return known;
  const country = place.country?.toUpperCase() ?? null;
  const continent = country === null ? null : continentOf(country);
  const words = [place.region, country, continent, place.city, ...place.tags].filter((word) => word !== null);
  const made = new Set(words.map(slug).filter((word) => word !== ""));
  indexed.set(place, made);
  return made;
}
