import { Effort, TooMuchEffort } from "#shared/json-path/effort.ts";
import { holds } from "#shared/json-path/condition.ts";
import { childrenOf, selectChildren } from "#shared/json-path/children.ts";
import type { JsonPath, Segment } from "#shared/json-path/path.ts";

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
