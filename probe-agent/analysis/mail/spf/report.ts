import { countLookups, countVoidLookups, listNodes } from "#probe-agent/analysis/mail/spf/cost.ts";
import { findErrors } from "#probe-agent/analysis/mail/spf/errors.ts";
import type { Qualifier } from "#probe-agent/analysis/mail/spf/parse.ts";
import { countPassingIp4, findFinalQualifier, passesEveryone } from "#probe-agent/analysis/mail/spf/passing.ts";
import type { SpfRemark } from "#probe-agent/analysis/mail/spf/remark.ts";
import { listRows, type SpfRow } from "#probe-agent/analysis/mail/spf/rows.ts";
import type { SpfNode } from "#probe-agent/analysis/mail/spf/tree.ts";
import { findWarnings } from "#probe-agent/analysis/mail/spf/warnings.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** Evaluation of an SPF policy that is independent of a sender. */
export interface SpfReport {
  /** The record; null if there is none or the lookup failed. */
  readonly record: string | null;
  /** absent: the domain has no record; unknown: the lookup failed. */
  readonly state: "present" | "absent" | "unknown";
  /** Whether the evaluation ends without permerror for a sender that no term matches; null if unknown. */
  readonly valid: boolean | null;
  /** Number of terms with a DNS lookup for such a sender; null if a lookup failed. */
  readonly lookups: number | null;
  /** Number of lookups that return no records for an IPv4 sender; null if a lookup failed. */
  readonly void_lookups: number | null;
  /** Terms in the order of evaluation. The terms of an included record follow their include, one deeper. */
  readonly mechanisms: readonly SpfRow[];
  /** Qualifier of the final `all` of the record or of its redirect; null if there is no final `all`. */
  readonly all_qualifier: Qualifier | null;
  /** Whether the policy passes every sender, or every IPv4 or every IPv6 sender. Included records count. */
  readonly passes_all: boolean;
  /** Domains of all includes, at any depth. */
  readonly includes: readonly string[];
  /** Number of IPv4 addresses that ip4 mechanisms pass. Overlapping blocks count once. */
  readonly ip4_count: number;
  /** Faults that make receivers return permerror. */
  readonly errors: readonly SpfRemark[];
  readonly warnings: readonly SpfRemark[];
  /** One sentence for each lookup that failed. */
  readonly unknowns: readonly string[];
}

const MAX_ROWS = 150;
const MAX_SENTENCES = 40;
const MAX_RECORD_SHOWN = 4_000;

/** Evaluates a policy with all records that it includes or redirects to. */
export function reportSpf(root: SpfNode): SpfReport {
  const { source } = root;
  const nodes = listNodes(root);
  const errors = findErrors(root, nodes);
  const unknowns = nodes.flatMap(({ source: { state, ...rest }, terms }) => [
    ...(state === "unknown" && "reason" in rest ? [rest.reason] : []),
    ...terms.flatMap(({ unknown }) => unknown ?? []),
  ]);
  const absent = source.state === "none";
  const partial = unknowns.length > 0 || nodes.some((node) => node.source.state === "skipped");
  return {
    record: source.text === null ? null : toPrintableAscii(source.text, MAX_RECORD_SHOWN),
    state: absent ? "absent" : source.state === "unknown" ? "unknown" : "present",
    valid: absent ? false : errors.length > 0 ? false : partial ? null : true,
    lookups: source.state === "record" && unknowns.length === 0 ? countLookups(root) : null,
    void_lookups: source.state === "record" && unknowns.length === 0 ? countVoidLookups(nodes) : null,
    mechanisms: listRows(root).slice(0, MAX_ROWS),
    all_qualifier: findFinalQualifier(root),
    passes_all: passesEveryone(root),
    includes: [...new Set(listIncludes(nodes))].slice(0, MAX_SENTENCES),
    ip4_count: countPassingIp4(root),
    errors: errors.slice(0, MAX_SENTENCES),
    warnings: findWarnings(root, nodes).slice(0, MAX_SENTENCES),
    unknowns: [...new Set(unknowns)].slice(0, MAX_SENTENCES),
  };
}

function listIncludes(nodes: readonly SpfNode[]): string[] {
  return nodes.flatMap(({ terms }) =>
    terms.flatMap(({ type, target, term }) => (type === "include" ? [toPrintableAscii(target ?? term, 253)] : [])),
  );
}
