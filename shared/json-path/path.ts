import type { ExactNumber } from "#shared/json/exact.ts";

/** A parsed JSONPath query (RFC 9535). */
export interface JsonPath {
  readonly segments: readonly Segment[];
}

/** Selects children, or all descendants, of each node. */
export interface Segment {
  readonly kind: "child" | "descendant";
  readonly selectors: readonly Selector[];
}

/** Selects children of one node. */
export type Selector =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "wildcard" }
  | { readonly kind: "index"; readonly index: number }
  /** null: the default of the RFC, which depends on the sign of the step. */
  | { readonly kind: "slice"; readonly start: number | null; readonly end: number | null; readonly step: number }
  | { readonly kind: "filter"; readonly condition: Condition };

/** A condition of a filter. */
export type Condition =
  | { readonly kind: "or" | "and"; readonly parts: readonly Condition[] }
  | { readonly kind: "not"; readonly part: Condition }
  /** The query selects something. */
  | { readonly kind: "exists"; readonly query: Query }
  | { readonly kind: "matches"; readonly call: MatchCall }
  | { readonly kind: "comparison"; readonly op: ComparisonOp; readonly left: Operand; readonly right: Operand };

/** Operators of comparisons. */
export type ComparisonOp = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** A query inside a filter: `$` starts at the document, `@` at the tested node. */
export interface Query {
  readonly start: "$" | "@";
  readonly segments: readonly Segment[];
}

/** Something with a value: a literal, a query of at most one node, or a function. */
export type Operand =
  | { readonly kind: "literal"; readonly value: string | ExactNumber | boolean | null }
  | { readonly kind: "query"; readonly query: Query }
  | { readonly kind: "length"; readonly of: Operand }
  | { readonly kind: "count" | "value"; readonly query: Query };

/** A test of a text by a regular expression (RFC 9485): the whole text, or any part of it. */
export interface MatchCall {
  readonly name: "match" | "search";
  readonly text: Operand;
  readonly pattern: Operand;
}
