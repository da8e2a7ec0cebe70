/** Writes text so that a provider shows it as it is. What it makes of a text is what it makes of each character. */
type Escape = (text: string) => string;

/** Measures a text as a provider's limit counts it. */
type Size = (text: string) => number;

const ELLIPSIS = "…";

/** Returns an escape that replaces the characters of a table. */
export function escaper(table: Readonly<Record<string, string>>): Escape {
  const replacements = new Map(Object.entries(table));
  return (text) => Array.from(text, (character) => replacements.get(character) ?? character).join("");
}

/** Returns an escape that puts a backslash before each of these characters. */
export function backslashed(characters: string): Escape {
  return escaper(Object.fromEntries(Array.from(characters, (character) => [character, `\\${character}`])));
}

/** Replaces what begins a mention by characters that look the same, for providers that have no escape for it. */
export const replaceMentions: Escape = escaper({ "@": "＠", "<": "‹", ">": "›" });

const escapeMarks = backslashed("\\`*_~[]()#|");

/**
 * Escapes Markdown, and replaces mentions. The colon is replaced too, so that an address is no link: it would be one to
 * the address with the backslashes in it.
 */
export const escapeMarkdown: Escape = (text) => escapeMarks(replaceMentions(text)).replaceAll(":", "∶");

/** Leaves text as it is. */
export const verbatim: Escape = (text) => text;

/** UTF-16 code units: no fewer than code points, so that it is safe for providers that count either. */
const codeUnits: Size = (text) => text.length;

/** Bytes in a JSON document: no fewer than in UTF-8. */
export const jsonBytes: Size = (text) => Buffer.byteLength(JSON.stringify(text)) - 2;

/**
 * Escapes a text and cuts it to `most`, with an ellipsis. Neither a code point nor what an escape makes of it is split.
 */
export function fit(text: string, most: number, escape: Escape = verbatim, size: Size = codeUnits): string {
  const whole = escape(text);
  if (size(whole) <= most) return whole;
  const kept: string[] = [];
  let used = size(ELLIPSIS);
  for (const character of text) {
    const piece = escape(character);
    used += size(piece);
    if (used > most) break;
    kept.push(piece);
  }
  return `${kept.join("")}${ELLIPSIS}`;
}
