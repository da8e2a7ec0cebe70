import { isRecord } from "#shared/is-record.ts";
import { compare } from "#shared/json-path/compare.ts";
import type { Effort } from "#shared/json-path/effort.ts";
import { matchesText } from "#shared/json-path/expression/match.ts";
import type { Condition, MatchCall, Operand, Query, Segment } from "#shared/json-path/path.ts";

/** What a condition is evaluated on. */
interface Scope {
  /** The tested node. */
  readonly node: unknown;
  readonly root: unknown;
  readonly effort: Effort;
  /** Applies segments to a node. Handed in, because queries and conditions contain each other. */
  readonly select: (segments: readonly Segment[], node: unknown, root: unknown, effort: Effort) => readonly unknown[];
}

/** Evaluates the condition of a filter on a node. */
export function holds(condition: Condition, scope: Scope): boolean {
  scope.effort.spend(1);
  switch (condition.kind) {
    case "or":
      return condition.parts.some((part) => holds(part, scope));
    case "and":
      return condition.parts.every((part) => holds(part, scope));
    case "not":
      return !holds(condition.part, scope);
    case "exists":
      return run(condition.query, scope).length > 0;
    case "matches":
      return matches(condition.call, scope);
    case "comparison":
      return compare(condition.op, valueOf(condition.left, scope), valueOf(condition.right, scope), scope.effort);
  }
}

function run({ start, segments }: Query, { node, root, effort, select }: Scope): readonly unknown[] {
  return select(segments, start === "$" ? root : node, root, effort);
}

/** Returns the value of an operand; undefined if it has none. */
function valueOf(operand: Operand, scope: Scope): unknown {
  switch (operand.kind) {
    case "literal":
      return operand.value;
    case "query":
      return run(operand.query, scope)[0];
    case "length":
      return lengthOf(valueOf(operand.of, scope), scope.effort);
    case "count":
      return run(operand.query, scope).length;
    case "value": {
      const nodes = run(operand.query, scope);
      return nodes.length === 1 ? nodes[0] : undefined;
    }
  }
}

/** Counts characters, items or members; undefined for other values. */
function lengthOf(value: unknown, effort: Effort): number | undefined {
  if (typeof value === "string") {
    effort.spend(value.length);
    let count = 0;
    for (const _ of value) count += 1;
    return count;
  }
  if (Array.isArray(value)) return value.length;
  if (!isRecord(value)) return undefined;
  const { length } = Object.keys(value);
  effort.spend(length);
  return length;
}

function matches({ name, text, pattern }: MatchCall, scope: Scope): boolean {
  const given = valueOf(text, scope);
  const expression = valueOf(pattern, scope);
  if (typeof given !== "string" || typeof expression !== "string") return false;
  return matchesText(expression, given, name === "match" ? "whole" : "part", scope.effort);
}
