import { CONTINENTS, continentOf } from "#shared/internet/continents.ts";

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

/** One condition on a place. `word` is a region, country, continent, city or tag in slug form. */
type ItemTerm = { readonly negated: boolean } & (
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "asn"; readonly asn: number }
  | { readonly kind: "probe"; readonly id: string }
);

/** One item of a location expression. */
interface Item {
  /** The item as submitted, for messages. */
  readonly text: string;
  /**
   * `some`: `count` of the matching probes. `all`: one matching probe in each region. `nearest`: the closest matching
   * probe. `remove`: matching probes (terms are stored positive) are removed from the union.
   */
  readonly kind: "some" | "all" | "nearest" | "remove";
  /** A probe must satisfy all of them; empty only with `all` and `nearest`. */
  readonly terms: readonly ItemTerm[];
  /** Number of requested probes; default 1. */
  readonly count: number;
}

/** A parsed item, or the reason why it is invalid. */
type ReadItem = { readonly ok: true; readonly item: Item } | { readonly ok: false; readonly message: string };

const MAX_TERMS = 10;
/** Far above the limit of any plan; the plan's limit is checked on the selected probes. */
const MAX_COUNT = 1000;
const MAX_ASN = 4_294_967_295;

const COUNT = /^(.*):(\d{1,9})$/su;
const ASN = /^as(\d{1,10})$/i;
const PROBE = /^probe:([a-z0-9][a-z0-9-]{0,63})$/i;
const WORD = /^[\p{L}\p{N}\p{M}'’._-]+$/u;

/** Parses `terms[:count]`; "+" or spaces join terms and "!" negates one. */
function readItem(raw: string): ReadItem {
  const text = raw.trim();
  const { joined, count } = splitCount(text);
  const words = joined.split(/[+\s]+/u).filter((word) => word !== "");
  if (words.length === 0) return refuseItem("an item must not be empty");
  if (words.length > MAX_TERMS) return refuseItem(`an item has at most ${MAX_TERMS} terms`);
  if (count !== null && (count < 1 || count > MAX_COUNT)) return refuseItem(`a count is between 1 and ${MAX_COUNT}`);

  const terms: ItemTerm[] = [];
  let kind: Item["kind"] = "some";
  for (const word of words) {
    const lower = word.toLowerCase();
    if (lower === "all" || lower === "nearest") {
      if (kind !== "some") return refuseItem("an item may contain all or nearest once, and not both");
      kind = lower;
      continue;
    }
    const term = readTerm(word);
    if (typeof term === "string") return refuseItem(term);
    terms.push(term);
  }
  const [only] = terms;
  if (kind === "some" && only?.negated === true && terms.length === 1) {
    if (count !== null) return refuseItem("an item that removes locations takes no count");
    return { ok: true, item: { text, kind: "remove", terms: [{ ...only, negated: false }], count: 1 } };
  }
  if (count !== null && kind === "all") return refuseItem("all takes no count: it selects one probe in each region");
  if (count !== null && terms.some((term) => term.kind === "probe" && !term.negated)) {
    return refuseItem("probe:<id> takes no count");
  }
  return { ok: true, item: { text, kind, terms, count: count ?? 1 } };
}

/** Separates ":n". Digits after "probe:" are an id, not a count. */
function splitCount(text: string): { readonly joined: string; readonly count: number | null } {
  const [, joined = "", digits = ""] = COUNT.exec(text) ?? [];
  if (digits === "" || /(^|[+\s!])probe$/iu.test(joined)) return { joined: text, count: null };
  return { joined, count: Number(digits) };
}

function readTerm(word: string): ItemTerm | string {
  const negated = word.startsWith("!");
  const bare = negated ? word.slice(1) : word;
  const [, digits] = ASN.exec(bare) ?? [];
  if (digits !== undefined) {
    const asn = Number(digits);
    return asn <= MAX_ASN ? { kind: "asn", asn, negated } : "an AS number is at most 4294967295";
  }
  const [, id] = PROBE.exec(bare) ?? [];
  if (id !== undefined) return { kind: "probe", id: id.toLowerCase(), negated };
  const name = WORD.test(bare) ? slug(bare) : "";
  if (name === "") {
    return "an item consists of regions, countries, continents, cities, tags, AS<number> or probe:<id>, joined by + and optionally followed by :n";
  }
  return name === "all" || name === "nearest" ? `${name} cannot be negated` : { kind: "word", word: name, negated };
}

function refuseItem(message: string): ReadItem {
  return { ok: false, message };
}

/** Converts a name to a slug: lower case, without accents, a hyphen for other characters than letters and digits: "São Paulo" -> "sao-paulo". */
export function slug(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
}
