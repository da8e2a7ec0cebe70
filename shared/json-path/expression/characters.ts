import { ExpressionError, type Reader } from "#shared/json-path/expression/reader.ts";

/** A set of characters. */
export interface CharacterSet {
  /** Code points, both ends included. */
  readonly ranges: readonly (readonly [number, number])[];
  readonly categories: readonly Category[];
  readonly isNegated: boolean;
}

/** The characters of a Unicode category, or all others. */
interface Category {
  readonly contains: (character: string) => boolean;
  readonly isNegated: boolean;
}

const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const ESCAPED: ReadonlySet<string> = new Set("()*+-.?[\\]^{|}");

/** What a dot matches: everything but line ends. */
export const ANY: CharacterSet = { ranges: [rangeOf("\n"), rangeOf("\r")], categories: [], isNegated: true };

/** Returns the set of one character. */
export function setOf(character: string): CharacterSet {
  return { ranges: [rangeOf(character)], categories: [], isNegated: false };
}

/** Reports whether a set contains a character. */
export function contains({ ranges, categories, isNegated }: CharacterSet, character: string): boolean {
  const code = codeOf(character);
  const isListed =
    ranges.some(([from, to]) => code >= from && code <= to) ||
    categories.some((category) => category.contains(character) !== category.isNegated);
  return isListed !== isNegated;
}

/** Parses an escape sequence after its backslash. */
export function parseEscape(reader: Reader): CharacterSet {
  const item = parseEscaped(reader);
  return typeof item === "string" ? setOf(item) : { ranges: [], categories: [item], isNegated: false };
}

/** Parses a character class after its opening bracket. */
export function parseClass(reader: Reader): CharacterSet {
  const isNegated = reader.skip("^");
  const ranges: (readonly [number, number])[] = [];
  const categories: Category[] = [];
  if (reader.skip("-")) ranges.push(rangeOf("-"));
  while (!reader.skip("]")) {
    const from = parseItem(reader);
    if (typeof from !== "string") categories.push(from);
    else if (!reader.skip("-")) ranges.push(rangeOf(from));
    else if (reader.peek() === "]") ranges.push(rangeOf(from), rangeOf("-"));
    else ranges.push([codeOf(from), parseEnd(reader, from)]);
  }
  if (ranges.length + categories.length === 0) throw new ExpressionError();
  return { ranges, categories, isNegated };
}

/** Parses the end of a range that starts with `from`. */
function parseEnd(reader: Reader, from: string): number {
  const to = parseItem(reader);
  if (typeof to !== "string" || codeOf(to) < codeOf(from)) throw new ExpressionError();
  return codeOf(to);
}

function parseItem(reader: Reader): string | Category {
  const character = reader.take();
  if (character === "\\") return parseEscaped(reader);
  // A hyphen is a character of the class only at its beginning and at its end.
  if (character === "[" || character === "-") throw new ExpressionError();
  return character;
}

function parseEscaped(reader: Reader): string | Category {
  const character = reader.take();
  if (character === "p" || character === "P") return parseCategory(reader, character === "P");
  const control = CONTROLS[character];
  if (control !== undefined) return control;
  if (!ESCAPED.has(character)) throw new ExpressionError();
  return character;
}

/** Longest name of a category. */
const MAX_NAME = 2;

function parseCategory(reader: Reader, isNegated: boolean): Category {
  if (!reader.skip("{")) throw new ExpressionError();
  let name = "";
  while (!reader.skip("}")) {
    name += reader.take();
    if (name.length > MAX_NAME) throw new ExpressionError();
  }
  const test = categoryTest(name);
  if (test === null) throw new ExpressionError();
  return { contains: test, isNegated };
}

function rangeOf(character: string): readonly [number, number] {
  return [codeOf(character), codeOf(character)];
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** The general categories of Unicode that expressions can name (RFC 9485 section 3). */
const CATEGORIES: Readonly<Record<string, RegExp>> = {
  L: /\p{L}/u,
  Ll: /\p{Ll}/u,
  Lm: /\p{Lm}/u,
  Lo: /\p{Lo}/u,
  Lt: /\p{Lt}/u,
  Lu: /\p{Lu}/u,
  M: /\p{M}/u,
  Mc: /\p{Mc}/u,
  Me: /\p{Me}/u,
  Mn: /\p{Mn}/u,
  N: /\p{N}/u,
  Nd: /\p{Nd}/u,
  Nl: /\p{Nl}/u,
  No: /\p{No}/u,
  P: /\p{P}/u,
  Pc: /\p{Pc}/u,
  Pd: /\p{Pd}/u,
  Pe: /\p{Pe}/u,
  Pf: /\p{Pf}/u,
  Pi: /\p{Pi}/u,
  Po: /\p{Po}/u,
  Ps: /\p{Ps}/u,
  Z: /\p{Z}/u,
  Zl: /\p{Zl}/u,
  Zp: /\p{Zp}/u,
  Zs: /\p{Zs}/u,
  S: /\p{S}/u,
  Sc: /\p{Sc}/u,
  Sk: /\p{Sk}/u,
  Sm: /\p{Sm}/u,
  So: /\p{So}/u,
  C: /\p{C}/u,
  Cc: /\p{Cc}/u,
  Cf: /\p{Cf}/u,
  Cn: /\p{Cn}/u,
  Co: /\p{Co}/u,
};

/** Returns the test of a category by its name; null if there is no such category. */
function categoryTest(name: string): ((character: string) => boolean) | null {
  const pattern = Object.hasOwn(CATEGORIES, name) ? CATEGORIES[name] : undefined;
  return pattern === undefined ? null : (character) => pattern.test(character);
}
