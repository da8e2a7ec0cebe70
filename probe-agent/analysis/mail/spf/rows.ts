import { countTermLookups } from "#probe-agent/analysis/mail/spf/cost.ts";
import type { Qualifier } from "#probe-agent/analysis/mail/spf/parse.ts";
import type { SpfNode, SpfTerm } from "#probe-agent/analysis/mail/spf/tree.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** One term of a policy as results show it. */
export interface SpfRow {
  readonly domain: string;
  readonly depth: number;
  readonly term: string;
  readonly type: SpfTerm["type"];
  /** null for redirect. */
  readonly qualifier: Qualifier | null;
  /** Name that the term looks up; null if it has none or the name depends on the sender. */
  readonly target: string | null;
  /** Number of terms with a DNS lookup: this one and all below it. */
  readonly lookups: number;
}

/** Maximum number of characters of a term in a result. */
const MAX_TERM = 120;

/** Lists the terms in the order of evaluation. The terms of an included record follow their include, one deeper. */
export function listRows(node: SpfNode): SpfRow[] {
  return node.terms.flatMap((term) => [
    {
      domain: toPrintableAscii(node.domain, 253),
      depth: node.depth,
      term: toPrintableAscii(term.term, MAX_TERM),
      type: term.type,
      qualifier: term.mechanism?.qualifier ?? null,
      target: term.target === null ? null : toPrintableAscii(term.target, 253),
      lookups: countTermLookups(term),
    },
    ...(term.child === null ? [] : listRows(term.child)),
  ]);
}
