/** Kind of a token. Comments and quoted strings have no delimiters; their quoted pairs are resolved. */
type TokenKind = "word" | "quoted" | "literal" | "comment" | "special";

/** One token of a structured field (RFC 5322 section 3.2). */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Offset in the value. */
  readonly at: number;
  /** Whether white space or a comment precedes the token. */
  readonly spaced: boolean;
}

/**
 * Tokens in order. `unclosed` says whether a quotation mark, comment or literal has no end; its delimiter then counts
 * as a plain character.
 */
interface Tokens {
  readonly tokens: readonly Token[];
  readonly unclosed: boolean;
}

/** Rules for splitting a field into tokens. */
interface Grammar {
  /** Characters that are separate tokens. */
  readonly specials: string;
  /** Whether [...] is one token (a domain literal) regardless of its content. */
  readonly literals: boolean;
}

/**
 * Splits a structured value into tokens in linear time: nested comments are counted without recursion, and after one
 * delimiter without an end, no further delimiter of its kind is tried.
 */
export function tokenize(value: string, { specials, literals }: Grammar): Tokens {
  const tokens: Token[] = [];
  const hopeless = new Set<string>();
  let spaced = false;
  let at = 0;
  const push = (kind: TokenKind, text: string, end: number): void => {
    tokens.push({ kind, text, at, spaced });
    spaced = kind === "comment";
    at = end;
  };
  /** Reads a delimited token. Returns false if its end is missing. */
  const enclosed = (kind: TokenKind, opener: string, read: (value: string, at: number) => Enclosed | null): boolean => {
    if (hopeless.has(opener)) return false;
    const found = read(value, at);
    if (found === null) hopeless.add(opener);
    else push(kind, found.text, found.end);
    return found !== null;
  };
  while (at < value.length) {
    const character = value.charAt(at);
    if (isSpace(character)) {
      spaced = true;
      at += 1;
      continue;
    }
    if (character === "(" && enclosed("comment", "(", readComment)) continue;
    if (character === '"' && enclosed("quoted", '"', readQuoted)) continue;
    if (character === "[" && literals && enclosed("literal", "[", readLiteral)) continue;
    if (specials.includes(character)) {
      push("special", character, at + 1);
      continue;
    }
    let end = at + 1;
    while (end < value.length && !endsWord(value.charAt(end), specials, literals)) end += 1;
    push("word", value.slice(at, end), end);
  }
  return { tokens, unclosed: hopeless.size > 0 };
}

interface Enclosed {
  readonly text: string;
  readonly end: number;
}

function isSpace(character: string): boolean {
  return character === " " || character === "\t" || character === "\r" || character === "\n";
}

function endsWord(character: string, specials: string, literals: boolean): boolean {
  if (isSpace(character) || character === "(" || character === '"') return true;
  return (literals && character === "[") || specials.includes(character);
}

function readComment(value: string, start: number): Enclosed | null {
  const parts: string[] = [];
  let depth = 0;
  for (let at = start; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (character === "\\") {
      at += 1;
      parts.push(value.charAt(at));
      continue;
    }
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (depth === 0) return { text: parts.slice(1).join("").trim(), end: at + 1 };
    parts.push(character);
  }
  return null;
}

function readQuoted(value: string, start: number): Enclosed | null {
  const parts: string[] = [];
  for (let at = start + 1; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (character === '"') return { text: parts.join(""), end: at + 1 };
    if (character === "\\") at += 1;
    parts.push(value.charAt(at));
  }
  return null;
}

function readLiteral(value: string, start: number): Enclosed | null {
  const end = value.indexOf("]", start);
  // White space inside has no meaning (RFC 5322 section 3.4.1).
  return end < 0 ? null : { text: value.slice(start, end + 1).replaceAll(/\s/g, ""), end: end + 1 };
}
