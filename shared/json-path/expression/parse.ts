import { ANY, parseClass, parseEscape, setOf, type CharacterSet } from "#shared/json-path/expression/characters.ts";
import { createReader, ExpressionError, type Reader } from "#shared/json-path/expression/reader.ts";

/** A parsed regular expression of RFC 9485 (I-Regexp). */
export type Expression =
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Expression[] }
  /** null: any number of times. */
  | { readonly kind: "repeat"; readonly part: Expression; readonly least: number; readonly most: number | null };

const MAX_DEPTH = 30;
const SPECIAL = new Set("()*+.?[\\]{|}");

/** Parses an expression; null if it is not valid. */
export function parseExpression(text: string): Expression | null {
  const reader = createReader(text);
  try {
    const expression = parseChoice(reader, 0);
    return reader.peek() === undefined ? expression : null;
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}

function parseChoice(reader: Reader, depth: number): Expression {
  if (depth > MAX_DEPTH) throw new ExpressionError();
  const parts: Expression[] = [];
  do parts.push(parseSequence(reader, depth));
  while (reader.skip("|"));
  return { kind: "choice", parts };
}

function parseSequence(reader: Reader, depth: number): Expression {
  const parts: Expression[] = [];
  for (let next = reader.peek(); next !== undefined && next !== "|" && next !== ")"; next = reader.peek()) {
    parts.push(parseQuantifier(reader, parseAtom(reader, depth)));
  }
  return { kind: "sequence", parts };
}

function parseAtom(reader: Reader, depth: number): Expression {
  const character = reader.take();
  if (character === "(") {
    const inner = parseChoice(reader, depth + 1);
    if (!reader.skip(")")) throw new ExpressionError();
    return inner;
  }
  if (character === ".") return { kind: "set", set: ANY };
  if (character === "[") return { kind: "set", set: parseClass(reader) };
  if (character === "\\") return { kind: "set", set: parseEscape(reader) };
  if (SPECIAL.has(character)) throw new ExpressionError();
  return { kind: "set", set: setOf(character) };
}

function parseQuantifier(reader: Reader, part: Expression): Expression {
  if (reader.skip("*")) return { kind: "repeat", part, least: 0, most: null };
  if (reader.skip("+")) return { kind: "repeat", part, least: 1, most: null };
  if (reader.skip("?")) return { kind: "repeat", part, least: 0, most: 1 };
  if (!reader.skip("{")) return part;
  const least = parseCount(reader);
  const most = !reader.skip(",") ? least : reader.peek() === "}" ? null : parseCount(reader);
  if (!reader.skip("}") || (most !== null && most < least)) throw new ExpressionError();
  return { kind: "repeat", part, least, most };
}

const MAX_COUNT_DIGITS = 5;

function parseCount(reader: Reader): number {
  let digits = "";
  for (let next = reader.peek(); next !== undefined && next >= "0" && next <= "9"; next = reader.peek()) {
    digits += reader.take();
    if (digits.length > MAX_COUNT_DIGITS) throw new ExpressionError();
  }
  if (digits === "") throw new ExpressionError();
  return Number(digits);
}
