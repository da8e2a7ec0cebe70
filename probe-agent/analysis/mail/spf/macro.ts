/** One piece of a macro-string (RFC 7208 section 7.1). */
export type MacroPart =
  | {
      readonly kind: "text";
      readonly text: string;
      /** Whether the text is the expansion of %%, %_ or %-. */
      readonly expanded: boolean;
    }
  | {
      readonly kind: "macro";
      /** Macro letter in lower case. */
      readonly letter: string;
      /** Whether the value is URL-escaped. An upper-case macro letter asks for that. */
      readonly escape: boolean;
      /** Number of right-hand parts that are kept; null for all. */
      readonly keep: number | null;
      readonly reverse: boolean;
      /** Characters that split the value into parts. Never empty. */
      readonly delimiters: string;
    };

/**
 * Where a macro-string occurs. Only explanations can use the letters c, r and t (section 7.2) and can contain spaces.
 */
type MacroPlace = "name" | "explanation" | "unknown-modifier";

/** Returns the value of a macro letter. Called for p only if p occurs, as p needs lookups. */
type MacroValues = (letter: string) => Promise<string>;

const EXPANSION = /^%(?:([%_-])|\{([a-z])(\d*)(r?)([-.+,/_=]*)\})/i;
/** A count with more digits than this exceeds the number of labels of any name. */
const MAX_KEEP_DIGITS = 6;
const FIXED: Readonly<Record<string, string>> = { "%": "%", _: " ", "-": "%20" };
const LETTERS: Readonly<Record<MacroPlace, string>> = {
  name: "slodiphv",
  explanation: "slodiphvcrt",
  "unknown-modifier": "slodiphvcrt",
};
const VISIBLE = /^[\x21-\x24\x26-\x7e]*$/;
const VISIBLE_OR_SPACE = /^[\x20-\x24\x26-\x7e]*$/;

/** Parses a macro-string. Returns null if it breaks the grammar of section 7.1. */
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
    // Slicing before matching avoids a copy of a long text for each macro. 256 characters hold every real expansion.
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
  // Section 7.3: the number, if present, must not be zero.
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

/** Returns the macro letters that the parts use. */
export function lettersOf(parts: readonly MacroPart[]): ReadonlySet<string> {
  return new Set(parts.flatMap((part) => (part.kind === "macro" ? [part.letter] : [])));
}

/** Expands the macros and joins the parts (section 7.3). */
export async function expandMacros(parts: readonly MacroPart[], values: MacroValues): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) texts.push(part.kind === "text" ? part.text : transform(part, await values(part.letter)));
  return texts.join("");
}

/** Splits, reverses and truncates a value as its macro says (section 7.3). */
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

/** Escapes all characters except the unreserved ones of RFC 3986 (section 7.3). */
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
