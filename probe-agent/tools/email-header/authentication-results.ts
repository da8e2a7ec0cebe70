import { tokenize, type Token } from "#probe-agent/tools/email-header/lexer.ts";

/** Result of one method (resinfo of RFC 8601 section 2.2). */
export interface MethodResult {
  /** Method in lower case: spf, dkim, dmarc, arc, iprev, auth, ... */
  readonly method: string;
  readonly methodVersion: number | null;
  /** Result in lower case: pass, fail, none, ... */
  readonly result: string;
  readonly reason: string | null;
  readonly properties: readonly { readonly type: string; readonly property: string; readonly value: string }[];
  readonly comments: readonly string[];
}

/** A parsed Authentication-Results field. */
export interface AuthenticationResults {
  /** Host that wrote the field; null if the field begins with a result, as fields of Exchange Online do. */
  readonly authservId: string | null;
  /** Version of the field's format; 1 if absent (section 2.2). */
  readonly version: number;
  readonly results: readonly MethodResult[];
  /** Whether the field breaks the grammar in a way that was tolerated. */
  readonly malformed: boolean;
}

const GRAMMAR = { specials: ";=", literals: false };
/** Maximum number of results of one field. */
const MAX_RESULTS = 100;
/** Maximum number of properties of one result. */
const MAX_PROPERTIES = 50;

/** Parses the value of Authentication-Results, or of ARC-Authentication-Results without its "i=1;". */
export function readAuthenticationResults(value: string): AuthenticationResults {
  const { tokens, unclosed } = tokenize(value, GRAMMAR);
  const [first = [], ...others] = splitSections(tokens);
  const words = first.filter(({ kind }) => kind !== "comment");
  const hasVerdict = words.some(({ kind }) => kind === "special");
  const sections = hasVerdict ? [first, ...others] : others;
  const [id, version] = hasVerdict ? [] : words;
  const read = sections.slice(0, MAX_RESULTS).flatMap((section) => {
    const blank = section.every(({ kind }) => kind === "comment");
    const isNone = section.filter(({ kind }) => kind !== "comment").map(({ text }) => text.toLowerCase());
    return blank || (isNone.length === 1 && isNone[0] === "none") ? [] : [readMethod(section)];
  });
  return {
    authservId: id?.text ?? null,
    version: version !== undefined && /^\d{1,4}$/.test(version.text) ? Number(version.text) : 1,
    results: read.filter((result) => result !== null),
    malformed: unclosed || hasVerdict || words.length > 2 || read.includes(null),
  };
}

function splitSections(tokens: readonly Token[]): Token[][] {
  const sections: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind === "special" && token.text === ";") sections.push([]);
    else sections.at(-1)?.push(token);
  }
  return sections;
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

function readMethod(section: readonly Token[]): MethodResult | null {
  const comments = section.flatMap(({ kind, text }) => (kind === "comment" ? [text] : []));
  const pairs = readPairs(section.filter(({ kind }) => kind !== "comment"));
  const [verdict, ...rest] = pairs;
  const [, method, version] = /^([a-z0-9][a-z0-9-]{0,62})(?:\/(\d{1,4}))?$/.exec(verdict?.key ?? "") ?? [];
  if (verdict === undefined || method === undefined || verdict.value === "") return null;
  let reason: string | null = null;
  const properties: { type: string; property: string; value: string }[] = [];
  for (const { key, value } of rest.slice(0, MAX_PROPERTIES)) {
    const dot = key.indexOf(".");
    if (dot > 0) properties.push({ type: key.slice(0, dot), property: key.slice(dot + 1), value });
    else if (key === "reason") reason ??= value;
    else properties.push({ type: "", property: key, value });
  }
  const methodVersion = version === undefined ? null : Number(version);
  return { method, methodVersion, result: verdict.value.toLowerCase(), reason, properties, comments };
}

/**
 * Reads the "key = value" pairs of one section without its comments. A key can have spaces around its "/" and ".". A
 * value continues while there is no space between its tokens, because signatures contain "=".
 */
function readPairs(tokens: readonly Token[]): Pair[] {
  const pairs: Pair[] = [];
  let key: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.kind !== "special") {
      key.push(token);
      continue;
    }
    const value: string[] = [];
    const next = tokens[at + 1];
    // "smtp.mailfrom= smtp.helo=a": the value is empty, and the next key begins.
    const after = tokens[at + 2];
    const isKey = next?.spaced === true && after?.kind === "special" && !after.spaced && next.text.includes(".");
    if (next !== undefined && !isKey) {
      value.push(next.text);
      at += 1;
      for (let more = tokens[at + 1]; more !== undefined && !more.spaced; more = tokens[at + 1]) {
        value.push(more.text);
        at += 1;
      }
    }
    pairs.push({ key: joinKey(key), value: value.join("") });
    key = [];
  }
  return pairs;
}

/** Returns the key before "=": the last word and the words that "/" or "." joins to it. */
function joinKey(words: readonly Token[]): string {
  let key = "";
  for (const { text } of words) {
    const joins = /[./]$/.test(key) || /^[./]/.test(text);
    key = joins ? key + text : text;
  }
  return key.toLowerCase();
}
