/** One piece of a macro-string (RFC 7208 section 7.1). */
export type MacroPart =
  | {
      readonly kind: "text";
      readonly text: string;
      /** Of %%, %_ or %-. */
      readonly expanded: boolean;
    }
  | {
      readonly kind: "macro";
      /** Lower case. */
      readonly letter: string;
      /** An upper-case letter stands for URL escaping. */
      readonly escape: boolean;
      /** Right-hand parts kept; null for all. */
      readonly keep: number | null;
      readonly reverse: boolean;
      /** Characters to split at, never empty. */
      readonly delimiters: string;
    };

/** Where a macro-string stands: c, r and t are for explanations alone (section 7.2), which may hold spaces too. */
type MacroPlace = "name" | "explanation" | "unknown-modifier";

/** What the letters stand for; p is asked for only where it occurs. */
type MacroValues = (letter: string) => Promise<string>;

const EXPANSION = /^%(?:([%_-])|\{([a-z])(\d*)(r?)([-.+,/_=]*)\})/i;
/** Digits of a count that matter: no name has more labels. */
const MAX_KEEP_DIGITS = 6;
const FIXED: Readonly<Record<string, string>> = { "%": "%", _: " ", "-": "%20" };
const LETTERS: Readonly<Record<MacroPlace, string>> = {
  name: "slodiphv",
  explanation: "slodiphvcrt",
  "unknown-modifier": "slodiphvcrt",
};
const VISIBLE = /^[\x21-\x24\x26-\x7e]*$/;
const VISIBLE_OR_SPACE = /^[\x20-\x24\x26-\x7e]*$/;

/** Reads a macro-string; null where it breaks the grammar of section 7.1. */
export function parseMacros(text: string, place: MacroPlace): readonly MacroPart[] | null {
  const literal = place === "explanation" ? VISIBLE_OR_SPACE : VISIBLE;
  const parts: MacroPart[] = [];
  for (let position = 0; position < text.length;) {
    const percent = text.indexOf("%", position);
    const end = percent < 0 ? text.length : percent;
    if (end > position) {
      const plain = text.slice(position, end);
      if (!literal.test(plain)) return null;
      parts.push({ kind: "text", text: plain, expanded: false });
      position = end;
      continue;
    }
    // No expansion is longer than its delimiters repeated; this keeps a long text from being copied for each macro.
    const match = EXPANSION.exec(text.slice(position, position + 256));
    if (match === null) return null;
    const part = readExpansion(match, place);
    if (part === null) return null;
    parts.push(part);
    position += match[0].length;
  }
  return parts;
}

function readExpansion(match: RegExpExecArray, place: MacroPlace): MacroPart | null {
  const [, fixed, letter = "", digits = "", reverse = "", delimiters = ""] = match;
  if (fixed !== undefined) return { kind: "text", text: FIXED[fixed] ?? "", expanded: true };
  const lower = letter.toLowerCase();
  const count = digits.replace(/^0+/, "");
  // Section 7.3: a number, where there is one, must not be zero.
  if (!LETTERS[place].includes(lower) || (digits !== "" && count === "")) return null;
  return {
    kind: "macro",
    letter: lower,
    escape: letter !== lower,
    keep: count === "" || count.length > MAX_KEEP_DIGITS ? null : Number(count),
    reverse: reverse !== "",
    delimiters: delimiters === "" ? "." : delimiters,
  };
}

/** Letters that the parts use. */
export function lettersOf(parts: readonly MacroPart[]): ReadonlySet<string> {
  return new Set(parts.flatMap((part) => (part.kind === "macro" ? [part.letter] : [])));
}

/** The text with its macros expanded (section 7.3). */
export async function expandMacros(parts: readonly MacroPart[], values: MacroValues): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) texts.push(part.kind === "text" ? part.text : transform(part, await values(part.letter)));
  return texts.join("");
}

function transform(part: MacroPart & { kind: "macro" }, value: string): string {
  const splitters = new Set(part.delimiters);
  const pieces: string[] = [""];
  for (const character of value) {
    if (splitters.has(character)) pieces.push("");
    else pieces[pieces.length - 1] += character;
  }
  if (part.reverse) pieces.reverse();
  const text = (part.keep === null ? pieces : pieces.slice(-part.keep)).join(".");
  return part.escape ? escapeUrl(text) : text;
}

/** Section 7.3: all but the unreserved characters of RFC 3986. */
function escapeUrl(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^A-Za-z0-9._~-]/gu, (character) =>
      Array.from(
        new TextEncoder().encode(character),
        (octet) => `%${octet.toString(16).toUpperCase().padStart(2, "0")}`,
      ).join(""),
    );
}
