/** What names mean at a point of the page. */
export interface Vocabulary {
  /** Where words without a prefix belong; null where none is in force. */
  readonly vocab: string | null;
  /** Prefixes in lower case. */
  readonly prefixes: ReadonlyMap<string, string>;
}

/** The part of the initial context that pages use without declaring it (W3C, www.w3.org/2011/rdfa-context/rdfa-1.1). */
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

/** The vocabulary within an element that has a vocab or prefix attribute (RDFa 1.1 Core 7.5, steps 2 and 3). */
export function withDeclarations(outer: Vocabulary, vocab: string | null, prefix: string | null): Vocabulary {
  if (vocab === null && prefix === null) return outer;
  const prefixes = new Map(outer.prefixes);
  const words = (prefix ?? "").split(/\s+/).filter((word) => word !== "");
  for (let at = 0; at + 1 < words.length && prefixes.size < MAX_PREFIXES; at += 2) {
    const name = words[at] ?? "";
    if (name.endsWith(":")) prefixes.set(name.slice(0, -1).toLowerCase(), words[at + 1] ?? "");
  }
  // An empty vocab takes the vocabulary back.
  return { vocab: vocab === null ? outer.vocab : vocab === "" ? null : vocab, prefixes };
}

/** The full address of a word: a term, prefix:name or an absolute address; null where it means nothing. */
export function expandName(word: string, { vocab, prefixes }: Vocabulary): string | null {
  const colon = word.indexOf(":");
  if (colon === -1) return vocab === null ? null : `${vocab}${word}`;
  const namespace = prefixes.get(word.slice(0, colon).toLowerCase());
  if (namespace !== undefined && !word.startsWith("//", colon + 1)) return `${namespace}${word.slice(colon + 1)}`;
  return URL.canParse(word) ? word : null;
}

/** How a property is called in a result: by its word within the vocabulary or schema.org, else by its address. */
export function propertyName(word: string, vocabulary: Vocabulary): string | null {
  const full = expandName(word, vocabulary);
  if (full === null) return null;
  return word.includes(":") ? full.replace(SCHEMA_ORG, "") : word;
}
