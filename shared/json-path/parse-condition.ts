import type { Cursor } from "#shared/json-path/cursor.ts";
import { parseString } from "#shared/json-path/parse-string.ts";
import type { ComparisonOp, Condition, MatchCall, Operand, Query, Segment } from "#shared/json-path/path.ts";

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
export function parseCondition(cursor: Cursor, segments: ParseSegments): Condition {
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
