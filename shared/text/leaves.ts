import { isRawNumber } from "#shared/json/exact.ts";

/** A value without entries, with its path, e.g. `redirects.0.url`: a primitive, {} or []. */
type Leaf = readonly [path: string, value: unknown];

/**
 * Lists the leaves of a JSON value in order, at most `limit`. Not recursive, because data can be nested to any depth.
 */
export function listLeaves(
  data: unknown,
  limit: number,
): { readonly leaves: readonly Leaf[]; readonly isCut: boolean } {
  const leaves: Leaf[] = [];
  const waiting: Leaf[] = [["", data]];
  while (leaves.length < limit) {
    const next = waiting.pop();
    if (next === undefined) break;
    const [path, value] = next;
    const children = entriesOf(value);
    if (children.length === 0) leaves.push(next);
    for (const [name, child] of children.toReversed()) waiting.push([path === "" ? name : `${path}.${name}`, child]);
  }
  return { leaves, isCut: waiting.length > 0 };
}

function entriesOf(value: unknown): readonly [string, unknown][] {
  return typeof value === "object" && value !== null && !isRawNumber(value) ? Object.entries(value) : [];
}
