import type { Qualifier } from "#probe-agent/analysis/mail/spf/parse.ts";
import { countPassingIp4, findFinalQualifier, passesEveryone } from "#probe-agent/tools/email-check/spf-passing.ts";
import { type SpfDraft, distinct, recordFinding, type SpfFindingId } from "#probe-agent/analysis/mail/spf/draft.ts";
import { type SpfNode, type SpfTerm, needsLookup } from "#probe-agent/tools/email-check/spf-tree.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import { modifierHint, nearRecordHint } from "#probe-agent/analysis/mail/spf/hints.ts";
import { LIMITS } from "#probe-agent/analysis/mail/spf/lookup.ts";

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
  readonly errors: readonly SpfDraft[];
  readonly warnings: readonly SpfDraft[];
  /** One sentence for each lookup that failed. */
  readonly unknowns: readonly string[];
}

const MAX_ROWS = 150;
const MAX_SENTENCES = 40;
const MAX_RECORD_SHOWN = 4_000;

/** Maximum number of octets of a record whose DNS answer fits into 512 octets of UDP (RFC 7208 section 3.4). */
const MAX_RECORD = 450;

/** One term of a policy as results show it. */
interface SpfRow {
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

/** Finds what weakens a policy or may break it later. Without a record, finds a text that was meant as one. */
function findWarnings(root: SpfNode, nodes: readonly SpfNode[]): SpfDraft[] {
  const { source, domain } = root;
  if (source.state !== "record") {
    return source.state === "none" && source.near !== undefined
      ? [recordFinding("spf-near-record", domain, `${source.reason}${nearRecordHint(source.near)}.`)]
      : [];
  }
  const size = source.text.length;
  const long = `The record has ${size} octets; more than ${MAX_RECORD} may not fit into one DNS answer.`;
  return distinct([
    ...endFindings(root, nodes),
    ...nodes.flatMap(recordFindings),
    ...(size > MAX_RECORD ? [recordFinding("spf-record-long", domain, long)] : []),
    ...listVoidTerms(nodes).map(({ domain: owner, what }) =>
      recordFinding(
        "spf-void-term",
        owner,
        `The DNS lookup of the term ${what} returns no records for an IPv4 sender.`,
      ),
    ),
  ]);
}

/** Finds what is wrong with the end of the policy, which decides for senders that no term matches. */
function endFindings(root: SpfNode, nodes: readonly SpfNode[]): SpfDraft[] {
  const final = findFinalQualifier(root);
  if (passesEveryone(root)) {
    return [recordFinding("spf-passes-everyone", root.domain, "The record passes every sender on the internet.")];
  }
  const effect = "other senders are neither allowed nor forbidden";
  if (final === "neutral")
    return [recordFinding("spf-neutral-all", root.domain, `The record ends in ?all: ${effect}.`)];
  const isOpen = nodes.some(({ terms }) => terms.some(({ type, dynamic }) => type === "redirect" && dynamic));
  return final === null && !isOpen
    ? [recordFinding("spf-without-all", root.domain, `The record ends without all: ${effect}.`)]
    : [];
}

function recordFindings({ domain, source, terms }: SpfNode): SpfDraft[] {
  if (source.state !== "record") return [];
  const { mechanisms, redirect, unknown } = source.record;
  const all = mechanisms.findIndex(({ name }) => name === "all");
  const about = (id: SpfFindingId, message: string): SpfDraft => recordFinding(id, domain, `${domain}: ${message}`);
  return [
    ...(all >= 0 && all < mechanisms.length - 1
      ? [about("spf-terms-unreachable", "the terms after all are never reached.")]
      : []),
    ...(all >= 0 && redirect !== null
      ? [about("spf-redirect-ignored", "receivers ignore redirect because the record has all.")]
      : []),
    ...(terms.some(({ type }) => type === "ptr")
      ? [about("spf-ptr", "the record uses ptr, which is slow and should not be used.")]
      : []),
    ...(terms.some(({ dynamic }) => dynamic)
      ? [about("spf-macro-not-followed", "a term has a macro that depends on the sender; its name was not looked up.")]
      : []),
    ...unknown
      .slice(0, 3)
      .map((term) =>
        about(
          "spf-unknown-modifier",
          `receivers ignore the unknown modifier "${toPrintableAscii(term, 60)}"${modifierHint(term)}.`,
        ),
      ),
    ...terms.flatMap(({ mechanism, term }) =>
      mechanism?.name === "ip4" && mechanism.prefix < 16 && mechanism.qualifier === "pass"
        ? [about("spf-large-block", `${toPrintableAscii(term, 60)} passes ${2 ** (32 - mechanism.prefix)} addresses.`)]
        : [],
    ),
  ];
}

/** Lists the terms in the order of evaluation. The terms of an included record follow their include, one deeper. */
function listRows(node: SpfNode): SpfRow[] {
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

/**
 * Finds the faults that make receivers return permerror, in the record and in the records that its includes and
 * redirects lead to (RFC 7208 sections 4.5, 4.6, 4.6.4, 5.2, 6.1).
 */
function findErrors(root: SpfNode, nodes: readonly SpfNode[]): SpfDraft[] {
  const errors = nodes.flatMap((node): SpfDraft[] => {
    const { source, terms, domain } = node;
    switch (source.state) {
      case "malformed":
        return (source.faults ?? [source.reason]).map((fault) => recordFinding("spf-syntax", domain, `${fault}.`));
      case "several":
        return [recordFinding("spf-several-records", domain, `${source.reason}.`)];
      case "circle":
        return [recordFinding("spf-loop", domain, `${source.reason}.`)];
      case "none": {
        const message = `${source.reason}, but another record includes it or redirects to it${nearRecordHint(source.near)}.`;
        return node === root ? [] : [recordFinding("spf-include-missing", domain, message)];
      }
      default:
        return terms.flatMap(({ fault }) =>
          fault === null ? [] : [recordFinding("spf-too-many-mx-hosts", domain, `${fault}.`)],
        );
    }
  });
  const lookups = countLookups(root);
  if (lookups > LIMITS.lookups) {
    const message = `${lookups} terms need a DNS lookup; with more than ${LIMITS.lookups}, receivers return permerror.`;
    errors.push(recordFinding("spf-too-many-lookups", root.domain, message));
  }
  const voids = countVoidLookups(nodes);
  if (voids > LIMITS.voidLookups) {
    const which = listVoidTerms(nodes)
      .slice(0, 5)
      .map(({ what }) => what)
      .join(", ");
    const message = `${voids} DNS lookups return no records (${which}); with more than ${LIMITS.voidLookups}, receivers return permerror.`;
    errors.push(recordFinding("spf-too-many-void-lookups", root.domain, message));
  }
  return distinct(errors);
}

/** Lists the terms whose lookups return no record for an IPv4 sender. */
function listVoidTerms(nodes: readonly SpfNode[]): { readonly domain: string; readonly what: string }[] {
  return nodes.flatMap(({ domain, terms }) =>
    terms.flatMap(({ voids, term }) =>
      voids > 0 ? [{ domain, what: `"${toPrintableAscii(term, 60)}" of ${domain}` }] : [],
    ),
  );
}

/** Lists a record and all records that its includes and redirects lead to, in the order of evaluation. */
function listNodes(node: SpfNode): SpfNode[] {
  return [node, ...node.terms.flatMap(({ child }) => (child === null ? [] : listNodes(child)))];
}

/** Counts the terms with a DNS lookup in a record and all records below it (RFC 7208 section 4.6.4). */
function countLookups(node: SpfNode): number {
  return sum(node.terms.map(countTermLookups));
}

/** Counts the terms with a DNS lookup in a term and all records below it. */
function countTermLookups(term: SpfTerm): number {
  return (needsLookup({ name: term.type }) ? 1 : 0) + (term.child === null ? 0 : countLookups(term.child));
}

/** Counts the lookups without a result that an IPv4 sender causes in these records. */
function countVoidLookups(nodes: readonly SpfNode[]): number {
  return sum(nodes.flatMap(({ terms }) => terms.map((term) => term.voids)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
