import { Cursor, PathError } from "#shared/json-path/cursor.ts";
import type {
  JsonPath,
  Segment,
  Selector,
  ComparisonOp,
  Condition,
  MatchCall,
  Operand,
  Query,
} from "#shared/json-path/path.ts";

/** A path, or why the text is none, in a few words. */
type ParsedPath = { readonly ok: true; readonly path: JsonPath } | { readonly ok: false; readonly message: string };

/** Maximum length of a path, in characters. */
const MAX_LENGTH = 1_000;

/** Parses a JSONPath query (RFC 9535). */
export function parseJsonPath(text: string): ParsedPath {
  if (text.length > MAX_LENGTH) return { ok: false, message: `the path has more than ${MAX_LENGTH} characters` };
  const cursor = new Cursor(text);
  try {
    if (!cursor.skip("$")) return { ok: false, message: "a path begins with $" };
    const segments = parseSegments(cursor);
    if (!cursor.atEnd) cursor.fail("expected . or [");
    return { ok: true, path: { segments } };
  } catch (error) {
    if (error instanceof PathError) return { ok: false, message: error.message };
    throw error;
  }
}

function parseSegments(cursor: Cursor): readonly Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const { position } = cursor;
    cursor.blanks();
    const segment = parseSegment(cursor);
    if (segment === null) {
      // White space belongs to what follows the query.
      cursor.back(position);
      return segments;
    }
    segments.push(segment);
  }
}

function parseSegment(cursor: Cursor): Segment | null {
  if (cursor.skip("..")) return { kind: "descendant", selectors: parseBracketed(cursor) ?? [parseShorthand(cursor)] };
  if (cursor.skip(".")) return { kind: "child", selectors: [parseShorthand(cursor)] };
  const selectors = parseBracketed(cursor);
  return selectors === null ? null : { kind: "child", selectors };
}

function parseShorthand(cursor: Cursor): Selector {
  if (cursor.skip("*")) return { kind: "wildcard" };
  const name = cursor.name();
  return name === null ? cursor.fail("expected a name or *") : { kind: "name", name };
}

function parseBracketed(cursor: Cursor): readonly Selector[] | null {
  if (!cursor.skip("[")) return null;
  const selectors: Selector[] = [];
  do {
    cursor.blanks();
    selectors.push(parseSelector(cursor));
    cursor.blanks();
  } while (cursor.skip(","));
  cursor.expect("]");
  return selectors;
}

function parseSelector(cursor: Cursor): Selector {
  if (cursor.skip("*")) return { kind: "wildcard" };
  const name = parseString(cursor);
  if (name !== null) return { kind: "name", name };
  if (cursor.skip("?")) {
    cursor.blanks();
    return { kind: "filter", condition: cursor.nested(() => parseCondition(cursor, parseSegments)) };
  }
  const start = cursor.integer();
  const { position } = cursor;
  cursor.blanks();
  if (cursor.skip(":")) return parseSlice(cursor, start);
  cursor.back(position);
  return start === null
    ? cursor.fail("expected a name in quotes, *, an index or a filter")
    : { kind: "index", index: start };
}

/** Reads a slice after its first colon. */
function parseSlice(cursor: Cursor, start: number | null): Selector {
  cursor.blanks();
  const end = cursor.integer();
  if (end !== null) cursor.blanks();
  if (!cursor.skip(":")) return { kind: "slice", start, end, step: 1 };
  const { position } = cursor;
  cursor.blanks();
  const step = cursor.integer();
  if (step === null) cursor.back(position);
  return { kind: "slice", start, end, step: step ?? 1 };
}

/** Reads the segments after `$` or `@`. Handed in, because queries and conditions contain each other. */
type ParseSegments = (cursor: Cursor) => readonly Segment[];

/** A part of a condition whose use is not known yet. */
type Term = Operand | { readonly kind: "matches"; readonly call: MatchCall };

const OPS: readonly ComparisonOp[] = ["==", "!=", "<=", ">=", "<", ">"];
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Parses the condition of a filter. */
function parseCondition(cursor: Cursor, segments: ParseSegments): Condition {
  return parseList(cursor, "or", "||", () => parseList(cursor, "and", "&&", () => parseBasic(cursor, segments)));
}

function parseList(cursor: Cursor, kind: "or" | "and", operator: string, read: () => Condition): Condition {
  const first = read();
  const parts = [first];
  for (;;) {
    const { position } = cursor;
    cursor.blanks();
    if (!cursor.skip(operator)) {
      cursor.back(position);
      return parts.length === 1 ? first : { kind, parts };
    }
    cursor.blanks();
    parts.push(read());
  }
}

function parseBasic(cursor: Cursor, segments: ParseSegments): Condition {
  const isNegated = cursor.skip("!");
  if (isNegated) cursor.blanks();
  const condition = cursor.skip("(") ? parseParenthesis(cursor, segments) : parseTest(cursor, segments, isNegated);
  return isNegated ? { kind: "not", part: condition } : condition;
}

function parseParenthesis(cursor: Cursor, segments: ParseSegments): Condition {
  cursor.blanks();
  const condition = cursor.nested(() => parseCondition(cursor, segments));
  cursor.blanks();
  cursor.expect(")");
  return condition;
}

/** Reads a comparison, or a term that is a condition itself. `!` negates only the latter. */
function parseTest(cursor: Cursor, segments: ParseSegments, isNegated: boolean): Condition {
  const left = parseTerm(cursor, segments);
  const { position } = cursor;
  cursor.blanks();
  const op = isNegated ? undefined : OPS.find((one) => cursor.skip(one));
  if (op === undefined) {
    cursor.back(position);
    return asCondition(cursor, left);
  }
  cursor.blanks();
  return {
    kind: "comparison",
    op,
    left: asOperand(cursor, left),
    right: asOperand(cursor, parseTerm(cursor, segments)),
  };
}

function asCondition(cursor: Cursor, term: Term): Condition {
  if (term.kind === "matches") return term;
  if (term.kind === "query") return { kind: "exists", query: term.query };
  return cursor.fail("expected a comparison: ==, !=, <, <=, > or >=");
}

function asOperand(cursor: Cursor, term: Term): Operand {
  if (term.kind === "matches") return cursor.fail("match and search have no value to compare");
  if (term.kind === "query" && !isSingular(term.query)) cursor.fail("a compared query may select only one node");
  return term;
}

/** Reports whether a query selects at most one node by its form. */
function isSingular({ segments }: Query): boolean {
  return segments.every(({ kind, selectors }) => {
    const [selector] = selectors;
    return kind === "child" && selectors.length === 1 && (selector?.kind === "name" || selector?.kind === "index");
  });
}

function parseTerm(cursor: Cursor, segments: ParseSegments): Term {
  const query = parseQuery(cursor, segments);
  if (query !== null) return { kind: "query", query };
  const text = parseString(cursor);
  if (text !== null) return { kind: "literal", value: text };
  const number = cursor.number();
  if (number !== null) return { kind: "literal", value: number };
  const word = cursor.word();
  if (word === null) return cursor.fail("expected @, $, a value or a function");
  if (cursor.skip("(")) return cursor.nested(() => parseCall(cursor, segments, word));
  const literal = LITERALS.get(word);
  return literal === undefined
    ? cursor.fail(`${word} is no value: write it in quotes`)
    : { kind: "literal", value: literal };
}

function parseQuery(cursor: Cursor, segments: ParseSegments): Query | null {
  const start = cursor.skip("$") ? "$" : cursor.skip("@") ? "@" : null;
  return start === null ? null : { start, segments: segments(cursor) };
}

/** Reads the arguments of a function and the parenthesis after them. */
function parseCall(cursor: Cursor, segments: ParseSegments, name: string): Term {
  const value = (): Operand => asOperand(cursor, parseTerm(cursor, segments));
  const nodes = (): Query => parseQuery(cursor, segments) ?? cursor.fail(`${name} needs a query: @ or $`);
  const next = <T>(read: () => T, end: string): T => {
    cursor.blanks();
    const argument = read();
    cursor.blanks();
    cursor.expect(end);
    return argument;
  };
  switch (name) {
    case "length":
      return { kind: "length", of: next(value, ")") };
    case "count":
    case "value":
      return { kind: name, query: next(nodes, ")") };
    case "match":
    case "search":
      return { kind: "matches", call: { name, text: next(value, ","), pattern: next(value, ")") } };
    default:
      return cursor.fail(`there is no function ${name}: length, count, value, match, search`);
  }
}

const ESCAPED: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  "/": "/",
  "\\": "\\",
};

/** Reads a string in single or double quotes; null if no quote is next. */
function parseString(cursor: Cursor): string | null {
  const quote = cursor.skip('"') ? '"' : cursor.skip("'") ? "'" : null;
  if (quote === null) return null;
  let text = "";
  for (;;) {
    const character = cursor.character();
    if (character === quote) break;
    if (character === "\\") text += parseEscape(cursor, quote);
    else if (character < " ") cursor.fail("a string contains a control character");
    else text += character;
  }
  if (!text.isWellFormed()) cursor.fail("a string contains half of a surrogate pair");
  return text;
}

function parseEscape(cursor: Cursor, quote: string): string {
  const character = cursor.character();
  if (character === quote) return quote;
  if (character !== "u") return ESCAPED[character] ?? cursor.fail(`\\${character} is no escape sequence`);
  const unit = parseHex(cursor);
  const isHigh = unit >= 0xd800 && unit < 0xdc00;
  if (!isHigh) return String.fromCharCode(unit);
  cursor.expect("\\u");
  return String.fromCharCode(unit, parseHex(cursor));
}

function parseHex(cursor: Cursor): number {
  let value = 0;
  for (let count = 0; count < 4; count += 1) {
    const digit = "0123456789abcdef".indexOf(cursor.character().toLowerCase());
    if (digit === -1) cursor.fail("\\u needs four hexadecimal digits");
    value = value * 16 + digit;
  }
  return value;
}
