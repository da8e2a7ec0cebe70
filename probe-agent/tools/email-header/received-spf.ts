import { tokenize } from "#probe-agent/tools/email-header/lexer.ts";

/** A parsed Received-SPF field (RFC 7208 section 9.1). */
export interface ReceivedSpf {
  /** Result in lower case. */
  readonly result: string;
  readonly comment: string | null;
  /** Values by key in lower case: client-ip, envelope-from, helo, receiver, identity, mechanism, problem, ... */
  readonly pairs: ReadonlyMap<string, string>;
}

const GRAMMAR = { specials: ";=", literals: false };
const MAX_PAIRS = 50;

/** Parses a Received-SPF field. Null if it does not begin with a word. */
export function readReceivedSpf(value: string): ReceivedSpf | null {
  const { tokens } = tokenize(value, GRAMMAR);
  const start = tokens.findIndex(({ kind }) => kind === "word");
  const result = tokens[start];
  if (result === undefined || !/^[a-z]{1,32}$/i.test(result.text)) return null;
  const pairs = new Map<string, string>();
  let key: string | null = null;
  let words: string[] = [];
  const finish = (): void => {
    if (key !== null && !pairs.has(key) && pairs.size < MAX_PAIRS) pairs.set(key, words.join(""));
    key = null;
    words = [];
  };
  for (const { kind, text, spaced } of tokens.slice(start + 1)) {
    if (kind === "comment") continue;
    // Pairs are separated by ";", or by white space if the semicolon is missing.
    if ((kind === "special" && text === ";") || (key !== null && spaced && words.length > 0 && kind === "word"))
      finish();
    if (kind === "special" && text === ";") continue;
    if (kind === "special" && key === null) {
      key = words.join("").toLowerCase();
      words = [];
    } else words.push(text);
  }
  finish();
  const comment = tokens.find(({ kind }) => kind === "comment")?.text ?? null;
  return { result: result.text.toLowerCase(), comment, pairs };
}
