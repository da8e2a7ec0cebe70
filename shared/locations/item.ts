import { slug } from "#shared/locations/slug.ts";

/** One condition on a place. `word` is a region, country, continent, city or tag in slug form. */
export type ItemTerm = { readonly negated: boolean } & (
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "asn"; readonly asn: number }
  | { readonly kind: "probe"; readonly id: string }
);

/** One item of a location expression. */
export interface Item {
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
export function readItem(raw: string): ReadItem {
  const text = raw.trim();
  const { joined, count } = splitCount(text);
  const words = joined.split(/[+\s]+/u).filter((word) => word !== "");
  if (words.length === 0) return refuse("an item must not be empty");
  if (words.length > MAX_TERMS) return refuse(`an item has at most ${MAX_TERMS} terms`);
  if (count !== null && (count < 1 || count > MAX_COUNT)) return refuse(`a count is between 1 and ${MAX_COUNT}`);

  const terms: ItemTerm[] = [];
  let kind: Item["kind"] = "some";
  for (const word of words) {
    const lower = word.toLowerCase();
    if (lower === "all" || lower === "nearest") {
      if (kind !== "some") return refuse("an item may contain all or nearest once, and not both");
      kind = lower;
      continue;
    }
    const term = readTerm(word);
    if (typeof term === "string") return refuse(term);
    terms.push(term);
  }
  const [only] = terms;
  if (kind === "some" && only?.negated === true && terms.length === 1) {
    if (count !== null) return refuse("an item that removes locations takes no count");
    return { ok: true, item: { text, kind: "remove", terms: [{ ...only, negated: false }], count: 1 } };
  }
  if (count !== null && kind === "all") return refuse("all takes no count: it selects one probe in each region");
  if (count !== null && terms.some((term) => term.kind === "probe" && !term.negated)) {
    return refuse("probe:<id> takes no count");
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

function refuse(message: string): ReadItem {
  return { ok: false, message };
}
