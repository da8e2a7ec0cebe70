/** Advance width of the space in thousandths of an em. */
const SPACE = 278;
/**
 * Advance widths of the printable ASCII characters from "!" to "~", in thousandths of an em. All widths here are from
 * Helvetica (Adobe Font Metrics). Arial was designed with the same widths.
 */
const ASCII = [
  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722,
  778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556,
  278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260,
  334, 584,
];
/** Advance widths of other characters, in thousandths of an em. */
const OTHERS = new Map([
  ["–", 556],
  ["—", 1000],
  ["‘", 222],
  ["’", 222],
  ["“", 333],
  ["”", 333],
  ["…", 1000],
  ["•", 350],
  ["·", 278],
  ["|", 260],
  ["\u00A0", SPACE],
  ["«", 556],
  ["»", 556],
  ["€", 556],
  ["£", 556],
  ["©", 737],
  ["®", 737],
  ["™", 1000],
  ["ß", 611],
  ["æ", 889],
  ["Æ", 1000],
  ["ø", 611],
  ["Ø", 778],
]);
/** Ideographs, syllables and full-width forms, which are one em wide. */
const FULL_WIDTH =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303F\uFF01-\uFF60]$/u;
/** Font size of titles in Google's results on desktops, in pixels. */
const TITLE_PX = 20;
const MAX_CHARACTERS = 500;

/**
 * Estimates the width of a title in a search result, in pixels. Returns null if the width of one of its characters is
 * unknown.
 */
export function titleWidthPx(title: string): number | null {
  let thousandths = 0;
  for (const character of title.normalize("NFD").slice(0, MAX_CHARACTERS)) {
    const width = widthOf(character);
    if (width === null) return null;
    thousandths += width;
  }
  return Math.round((thousandths * TITLE_PX) / 1000);
}

function widthOf(character: string): number | null {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x20) return SPACE;
  const known = ASCII[code - 0x21] ?? OTHERS.get(character);
  if (known !== undefined) return known;
  // NFD separates an accent from its letter. The accent adds no width.
  if (/^\p{M}$/u.test(character)) return 0;
  return FULL_WIDTH.test(character) ? 1000 : null;
}
