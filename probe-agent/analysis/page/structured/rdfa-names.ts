/** Vocabulary and prefixes in scope at an element. They give names their meaning. */
export interface Vocabulary {
  /** Address of the vocabulary of names without a prefix; null if no vocabulary is set. */
  readonly vocab: string | null;
  /** Namespace addresses, keyed by prefix in lower case. */
  readonly prefixes: ReadonlyMap<string, string>;
}

/** Prefixes of the RDFa initial context that pages use undeclared (W3C, www.w3.org/2011/rdfa-context/rdfa-1.1). */
export const INITIAL_VOCABULARY: Vocabulary = {
  vocab: null,
  prefixes: new Map([
    ["schema", "http://schema.org/"],
    ["og", "http://ogp.me/ns#"],
    ["foaf", "http://xmlns.com/foaf/0.1/"],
    ["dc", "http://purl.org/dc/terms/"],
    ["dcterms", "http://purl.org/dc/terms/"],
    ["gr", "http://purl.org/goodrelations/v1#"],
    ["v", "http://rdf.data-vocabulary.org/#"],
    ["vcard", "http://www.w3.org/2006/vcard/ns#"],
    ["sioc", "http://rdfs.org/sioc/ns#"],
    ["skos", "http://www.w3.org/2004/02/skos/core#"],
    ["rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"],
    ["rdfs", "http://www.w3.org/2000/01/rdf-schema#"],
    ["cc", "http://creativecommons.org/ns#"],
  ]),
};

const SCHEMA_ORG = /^https?:\/\/(?:www\.)?schema\.org\//i;
const MAX_PREFIXES = 100;

/**
 * Returns the vocabulary in scope inside an element, given its vocab and prefix attributes (RDFa 1.1 Core 7.5, steps 2
 * and 3). null means that the attribute is absent.
 */
export function withDeclarations(outer: Vocabulary, vocab: string | null, prefix: string | null): Vocabulary {
  if (vocab === null && prefix === null) return outer;
  const prefixes = new Map(outer.prefixes);
  const words = (prefix ?? "").split(/\s+/).filter((word) => word !== "");
  for (let at = 0; at + 1 < words.length && prefixes.size < MAX_PREFIXES; at += 2) {
    const name = words[at] ?? "";
    if (name.endsWith(":")) prefixes.set(name.slice(0, -1).toLowerCase(), words[at + 1] ?? "");
  }
  // An empty vocab attribute resets the vocabulary.
  return { vocab: vocab === null ? outer.vocab : vocab === "" ? null : vocab, prefixes };
}

/**
 * Returns the full address of a name: a term, prefix:name or an absolute address. Returns null for a term without a
 * vocabulary, and for a name that is no address.
 */
export function expandName(word: string, { vocab, prefixes }: Vocabulary): string | null {
  const colon = word.indexOf(":");
  if (colon === -1) return vocab === null ? null : `${vocab}${word}`;
  const namespace = prefixes.get(word.slice(0, colon).toLowerCase());
  if (namespace !== undefined && !word.startsWith("//", colon + 1)) return `${namespace}${word.slice(colon + 1)}`;
  return URL.canParse(word) ? word : null;
}

/**
 * Returns the name of a property for a result: a term unchanged, a schema.org name without its address, and any other
 * name as its full address. Returns null if the name has no meaning.
 */
export function propertyName(word: string, vocabulary: Vocabulary): string | null {
  const full = expandName(word, vocabulary);
  if (full === null) return null;
  return word.includes(":") ? full.replace(SCHEMA_ORG, "") : word;
}
