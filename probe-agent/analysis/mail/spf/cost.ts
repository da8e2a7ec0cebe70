import { needsLookup, type SpfNode, type SpfTerm } from "#probe-agent/analysis/mail/spf/tree.ts";

/** Lists a record and all records that its includes and redirects lead to, in the order of evaluation. */
export function listNodes(node: SpfNode): SpfNode[] {
  return [node, ...node.terms.flatMap(({ child }) => (child === null ? [] : listNodes(child)))];
}

/** Counts the terms with a DNS lookup in a record and all records below it (RFC 7208 section 4.6.4). */
export function countLookups(node: SpfNode): number {
  return sum(node.terms.map(countTermLookups));
}

/** Counts the terms with a DNS lookup in a term and all records below it. */
export function countTermLookups(term: SpfTerm): number {
  return (needsLookup({ name: term.type }) ? 1 : 0) + (term.child === null ? 0 : countLookups(term.child));
}

/** Counts the lookups without a result that an IPv4 sender causes in these records. */
export function countVoidLookups(nodes: readonly SpfNode[]): number {
  return sum(nodes.flatMap(({ terms }) => terms.map((term) => term.voids)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
