import { Effort, TooMuchEffort } from "#shared/json-path/effort.ts";
import type { JsonPath, Segment, Condition, Selector, MatchCall, Operand, Query } from "#shared/json-path/path.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { compare } from "#shared/json-path/compare.ts";
import { matchesText } from "#shared/json-path/expression/match.ts";

/** What a condition is evaluated on. */
interface Scope {
  /** The tested node. */
  readonly node: unknown;
  readonly root: unknown;
  readonly effort: Effort;
  /** Applies segments to a node. Handed in, because queries and conditions contain each other. */
  readonly select: (segments: readonly Segment[], node: unknown, root: unknown, effort: Effort) => readonly unknown[];
}

/** The selected values in the order of the RFC; null if the evaluation takes more than `steps` steps. */
export function selectJson(path: JsonPath, document: unknown, steps: number): readonly unknown[] | null {
  try {
    return selectFrom(path.segments, document, document, new Effort(steps));
  } catch (error) {
    if (error instanceof TooMuchEffort) return null;
    throw error;
  }
}

/** Applies segments to one node. `root` is the document, for queries inside filters. */
function selectFrom(segments: readonly Segment[], node: unknown, root: unknown, effort: Effort): readonly unknown[] {
  let nodes: readonly unknown[] = [node];
  for (const { kind, selectors } of segments) {
    const selected: unknown[] = [];
    const visit = (one: unknown): void => {
      for (const selector of selectors) {
        selectChildren(selector, one, effort, selected, (condition, child) =>
          holds(condition, { node: child, root, effort, select: selectFrom }),
        );
      }
    };
    for (const one of nodes) {
      if (kind === "child") visit(one);
      else for (const each of descendantsOf(one, effort)) visit(each);
    }
    nodes = selected;
  }
  return nodes;
}

/** Yields a node and everything in it, each before its children. Not recursive: a document can be nested deeply. */
function* descendantsOf(node: unknown, effort: Effort): Generator<unknown> {
  const pending = [node];
  while (pending.length > 0) {
    const next = pending.pop();
    effort.spend(1);
    yield next;
    const children = childrenOf(next, effort);
    for (let at = children.length - 1; at >= 0; at -= 1) pending.push(children[at]);
  }
}

/** Returns the values in an array or object; [] for other values. */
function childrenOf(node: unknown, effort: Effort): readonly unknown[] {
  const children = Array.isArray(node) ? (node as readonly unknown[]) : isRecord(node) ? Object.values(node) : [];
  effort.spend(children.length);
  return children;
}

/** Appends the children of a node that a selector selects. `passes` decides about filters. */
function selectChildren(
  selector: Selector,
  node: unknown,
  effort: Effort,
  selected: unknown[],
  passes: (condition: Condition, child: unknown) => boolean,
): void {
  effort.spend(1);
  switch (selector.kind) {
    case "name":
      if (isRecord(node) && Object.hasOwn(node, selector.name)) selected.push(node[selector.name]);
      break;
    case "wildcard":
      for (const child of childrenOf(node, effort)) selected.push(child);
      break;
    case "index":
      if (Array.isArray(node)) {
        const at = selector.index < 0 ? node.length + selector.index : selector.index;
        if (at >= 0 && at < node.length) selected.push(node[at]);
      }
      break;
    case "slice":
      if (Array.isArray(node)) sliceOf(node, selector, effort, selected);
      break;
    case "filter":
      for (const child of childrenOf(node, effort)) if (passes(selector.condition, child)) selected.push(child);
      break;
  }
}

/** Implements RFC 9535 section 2.3.4.2.2. */
function sliceOf(
  items: readonly unknown[],
  { start, end, step }: Extract<Selector, { kind: "slice" }>,
  effort: Effort,
  selected: unknown[],
): void {
  const { length } = items;
  const normal = (index: number): number => (index >= 0 ? index : length + index);
  const within = (index: number, lowest: number, highest: number): number => Math.min(Math.max(index, lowest), highest);
  if (step > 0) {
    const to = within(normal(end ?? length), 0, length);
    for (let at = within(normal(start ?? 0), 0, length); at < to; at += step) {
      effort.spend(1);
      selected.push(items[at]);
    }
  } else if (step < 0) {
    const from = within(normal(start ?? length - 1), -1, length - 1);
    const to = end === null ? -1 : within(normal(end), -1, length - 1);
    for (let at = from; at > to; at += step) {
      effort.spend(1);
      selected.push(items[at]);
    }
  }
}

/** Evaluates the condition of a filter on a node. */
function holds(condition: Condition, scope: Scope): boolean {
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
