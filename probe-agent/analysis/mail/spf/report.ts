import { countLookups, countVoidLookups, listNodes } from "#probe-agent/analysis/mail/spf/cost.ts";
import { findErrors } from "#probe-agent/analysis/mail/spf/errors.ts";
import type { Qualifier } from "#probe-agent/analysis/mail/spf/parse.ts";
import { countPassingIp4, findFinalQualifier, passesEveryone } from "#probe-agent/analysis/mail/spf/passing.ts";
import type { SpfRemark } from "#probe-agent/analysis/mail/spf/remark.ts";
import { listRows, type SpfRow } from "#probe-agent/analysis/mail/spf/rows.ts";
import type { SpfNode } from "#probe-agent/analysis/mail/spf/tree.ts";
import { findWarnings } from "#probe-agent/analysis/mail/spf/warnings.ts";
import { shownText } from "#probe-agent/analysis/mail/tag-list.ts";

/** A policy judged without a sender. */
export interface SpfReport {
  /** Null where there is none or it could not be looked up. */
  readonly record: string | null;
  /** absent: there is none; unknown: it could not be looked up. */
  readonly state: "present" | "absent" | "unknown";
  /** Whether a sender that matches nothing gets to the end without permerror; null where that could not be told. */
  readonly valid: boolean | null;
  /** Terms that ask the DNS for such a sender; null where a part could not be looked up. */
  readonly lookups: number | null;
  readonly void_lookups: number | null;
  /** Terms in the order of evaluation, those of a record that a term leads to right after it and one deeper. */
  readonly mechanisms: readonly SpfRow[];
  /** Qualifier of the `all` that ends the policy, its own or that of a redirect; null where none does. */
  readonly all_qualifier: Qualifier | null;
  /** Whether the policy passes every sender, or every one of IPv4 or IPv6, by its own terms or those of an include. */
  readonly passes_all: boolean;
  /** Domains of all includes, at any depth. */
  readonly includes: readonly string[];
  /** IPv4 addresses that ip4 mechanisms pass, overlaps counted once. */
  readonly ip4_count: number;
  /** Why receivers see a permerror. */
  readonly errors: readonly SpfRemark[];
  readonly warnings: readonly SpfRemark[];
  /** What could not be looked up. */
  readonly unknowns: readonly string[];
}

const MAX_ROWS = 150;
const MAX_SENTENCES = 40;
const MAX_RECORD_SHOWN = 4_000;

/** Judges a policy with all that it leads to. */
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
    record: source.text === null ? null : shownText(source.text, MAX_RECORD_SHOWN),
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
    terms.flatMap(({ type, target, term }) => (type === "include" ? [shownText(target ?? term, 253)] : [])),
  );
}
