import { isRecord } from "#shared/is-record.ts";
import type { Effort } from "#shared/json-path/effort.ts";
import type { Condition, Selector } from "#shared/json-path/path.ts";

/** Returns the values in an array or object; [] for other values. */
export function childrenOf(node: unknown, effort: Effort): readonly unknown[] {
  const children = Array.isArray(node) ? (node as readonly unknown[]) : isRecord(node) ? Object.values(node) : [];
  effort.spend(children.length);
  return children;
}

/** Appends the children of a node that a selector selects. `holds` decides about filters. */
export function selectChildren(
  selector: Selector,
  node: unknown,
  effort: Effort,
  selected: unknown[],
  holds: (condition: Condition, child: unknown) => boolean,
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
      for (const child of childrenOf(node, effort)) if (holds(selector.condition, child)) selected.push(child);
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
