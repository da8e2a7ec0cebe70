/** What a character does to the text around it. */
type Effect = "controls a terminal" | "reorders text" | "breaks lines" | "is invisible" | "is private";

/**
 * Characters that people do not see or that change what they see, as first and last code point. Unicode 17, UCD:
 * PropList.txt (Bidi_Control), DerivedGeneralCategory.txt (Cc, Zl, Zp, Co, Cs) and DerivedCoreProperties.txt
 * (Default_Ignorable_Code_Point), with the annotation marks U+FFF9-FFFB. Not in it, because words and emoji need them: the
 * joiners U+200C and U+200D, U+034F, and the variation selectors.
 */
const TABLE: readonly (readonly [first: number, last: number, effect: Effect])[] = [
  [0x00, 0x1f, "controls a terminal"],
  [0x7f, 0x9f, "controls a terminal"],
  [0xad, 0xad, "is invisible"],
  [0x61c, 0x61c, "reorders text"],
  [0x115f, 0x1160, "is invisible"],
  [0x17b4, 0x17b5, "is invisible"],
  [0x180e, 0x180e, "is invisible"],
  [0x200b, 0x200b, "is invisible"],
  [0x200e, 0x200f, "reorders text"],
  [0x2028, 0x2029, "breaks lines"],
  [0x202a, 0x202e, "reorders text"],
  [0x2060, 0x2065, "is invisible"],
  [0x2066, 0x2069, "reorders text"],
  [0x206a, 0x206f, "is invisible"],
  [0x3164, 0x3164, "is invisible"],
  [0xd800, 0xdfff, "is private"],
  [0xe000, 0xf8ff, "is private"],
  [0xfeff, 0xfeff, "is invisible"],
  [0xffa0, 0xffa0, "is invisible"],
  [0xfff0, 0xfffb, "is invisible"],
  [0x1bca0, 0x1bca3, "is invisible"],
  [0x1d173, 0x1d17a, "is invisible"],
  [0xe0000, 0xe00ff, "is invisible"],
  [0xe01f0, 0xe0fff, "is invisible"],
  [0xf0000, 0xffffd, "is private"],
  [0x100000, 0x10fffd, "is private"],
];

/** Most texts have none of them: ASCII without control characters. */
const PLAIN = /^[ -~\n\t]*$/;
const FIRST_OF_NAMES = 0x20;

function effectOf(codePoint: number): Effect | null {
  return TABLE.find(([first, last]) => codePoint >= first && codePoint <= last)?.[2] ?? null;
}

/**
 * Returns why a text must not be the name of something, or another text that people read on pages and in mails; null if
 * it can be. C0 control characters, of which such texts can have line breaks, are not looked for, nor are private ones.
 */
export function hiddenProblem(text: string): string | null {
  if (PLAIN.test(text)) return null;
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    const effect = codePoint < FIRST_OF_NAMES ? null : effectOf(codePoint);
    if (effect === null || effect === "is private") continue;
    const name = codePoint.toString(16).toUpperCase().padStart(4, "0");
    return `must not contain U+${name}, a character that ${effect}; delete it, or type the text again`;
  }
  return null;
}

/** The short escapes of JSON. */
const SHORT = new Map(["\b", "\f", "\n", "\r", "\t"].map((one) => [one, JSON.stringify(one).slice(1, -1)]));

/**
 * Makes hidden characters of one line visible, as the escapes that JSON has for them: they can then neither control a
 * terminal nor change how the rest is read. JSON stays the same JSON.
 */
export function showHidden(line: string): string {
  if (PLAIN.test(line) && !/[\n\t]/.test(line)) return line;
  let shown = "";
  for (const character of line) {
    shown += effectOf(character.codePointAt(0) ?? 0) === null ? character : (SHORT.get(character) ?? escape(character));
  }
  return shown;
}

/** The same for text with several lines: line ends and tabs stay. */
export function showHiddenInLines(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .split("\n")
    .map((line) => line.split("\t").map(showHidden).join("\t"))
    .join("\n");
}

function escape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
