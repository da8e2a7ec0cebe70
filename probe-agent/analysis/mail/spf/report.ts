import { readBlock, type IpBlock } from "#probe-agent/analysis/network/ip-numbers.ts";
import { modifierHint } from "#probe-agent/analysis/mail/spf/hints.ts";
import { LIMITS } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { asks, type SpfNode, type SpfTerm } from "#probe-agent/analysis/mail/spf/tree.ts";
import type { Qualifier } from "#probe-agent/analysis/mail/spf/parse.ts";
import type { Remark } from "#probe-agent/analysis/mail/remarks.ts";
import { shownText } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of remarks on a policy. */
export type SpfRemarkId =
  | "spf-syntax"
  | "spf-several-records"
  | "spf-loop"
  | "spf-include-missing"
  | "spf-too-many-mx-hosts"
  | "spf-too-many-lookups"
  | "spf-too-many-void-lookups"
  | "spf-near-record"
  | "spf-passes-everyone"
  | "spf-neutral-all"
  | "spf-without-all"
  | "spf-terms-unreachable"
  | "spf-redirect-ignored"
  | "spf-ptr"
  | "spf-macro-not-followed"
  | "spf-unknown-modifier"
  | "spf-large-block"
  | "spf-record-long"
  | "spf-void-term";
/** One remark on a policy; where: the domain whose record it is about. */
export type SpfRemark = Remark<SpfRemarkId>;

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

/** One term as results show it. */
interface SpfRow {
  readonly domain: string;
  readonly depth: number;
  readonly term: string;
  readonly type: SpfTerm["type"];
  readonly qualifier: Qualifier | null;
  readonly target: string | null;
  /** Look-ups that the term and all below it cost. */
  readonly lookups: number;
}

const MAX_ROWS = 150;
const MAX_SENTENCES = 40;
const MAX_TERM = 120;
/** Section 3.4: an answer that fits into 512 octets of UDP. */
const MAX_RECORD = 450;
const MAX_RECORD_SHOWN = 4_000;
const ALL_IPV4 = 2 ** 32;

/** Judges a policy with all that it leads to. */
export function reportSpf(root: SpfNode): SpfReport {
  const { source } = root;
  const nodes = nodesOf(root);
  const lookups = costOf(root);
  const voids = sum(nodes.flatMap(({ terms }) => terms.map((term) => term.voids)));
  const errors = errorsOf(root, nodes, lookups, voids);
  const ip4Count = countIp4(passingNodes(root));
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
    lookups: source.state === "record" && unknowns.length === 0 ? lookups : null,
    void_lookups: source.state === "record" && unknowns.length === 0 ? voids : null,
    mechanisms: rowsOf(root).slice(0, MAX_ROWS),
    all_qualifier: finalQualifier(root),
    passes_all: passesAll(root) || ip4Count === ALL_IPV4,
    includes: [...new Set(includesOf(nodes))].slice(0, MAX_SENTENCES),
    ip4_count: ip4Count,
    errors: errors.slice(0, MAX_SENTENCES),
    warnings: (source.state === "record" ? warningsOf(root, nodes) : nearMisses(root)).slice(0, MAX_SENTENCES),
    unknowns: [...new Set(unknowns)].slice(0, MAX_SENTENCES),
  };
}

function nodesOf(node: SpfNode): SpfNode[] {
  return [node, ...node.terms.flatMap(({ child }) => (child === null ? [] : nodesOf(child)))];
}

function costOf(node: SpfNode): number {
  return sum(node.terms.map(termCost));
}

function termCost(term: SpfTerm): number {
  return (asks({ name: term.type }) ? 1 : 0) + (term.child === null ? 0 : costOf(term.child));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function rowsOf(node: SpfNode): SpfRow[] {
  return node.terms.flatMap((term) => [
    {
      domain: shownText(node.domain, 253),
      depth: node.depth,
      term: shownText(term.term, MAX_TERM),
      type: term.type,
      qualifier: term.mechanism?.qualifier ?? null,
      target: term.target === null ? null : shownText(term.target, 253),
      lookups: termCost(term),
    },
    ...(term.child === null ? [] : rowsOf(term.child)),
  ]);
}

function remark(id: SpfRemarkId, where: string, message: string): SpfRemark {
  return { id, message, where: shownText(where, 253) };
}

/** The first of each message, in order. */
function distinct(remarks: readonly SpfRemark[]): SpfRemark[] {
  return [...new Map(remarks.toReversed().map((one) => [one.message, one])).values()].toReversed();
}

/** Includes and redirects alone matter: RFC 7208 sections 4.5, 4.6, 4.6.4, 5.2, 6.1. */
function errorsOf(root: SpfNode, nodes: readonly SpfNode[], lookups: number, voids: number): SpfRemark[] {
  const errors = nodes.flatMap((node): SpfRemark[] => {
    const { source, terms, domain } = node;
    switch (source.state) {
      case "malformed":
        return (source.faults ?? [source.reason]).map((fault) => remark("spf-syntax", domain, `${fault}.`));
      case "several":
        return [remark("spf-several-records", domain, `${source.reason}.`)];
      case "circle":
        return [remark("spf-loop", domain, `${source.reason}.`)];
      case "none": {
        const message = `${source.reason}, although another record includes it or redirects to it${nearMiss(source)}.`;
        return node === root ? [] : [remark("spf-include-missing", domain, message)];
      }
      default:
        return terms.flatMap(({ fault }) =>
          fault === null ? [] : [remark("spf-too-many-mx-hosts", domain, `${fault}.`)],
        );
    }
  });
  if (lookups > LIMITS.lookups) {
    const message = `${lookups} terms ask the DNS; more than ${LIMITS.lookups} are a permerror.`;
    errors.push(remark("spf-too-many-lookups", root.domain, message));
  }
  if (voids > LIMITS.voidLookups) {
    const which = voidTerms(nodes)
      .slice(0, 5)
      .map(({ what }) => what)
      .join(", ");
    const message = `${voids} look-ups find nothing; more than ${LIMITS.voidLookups} are a permerror: ${which}.`;
    errors.push(remark("spf-too-many-void-lookups", root.domain, message));
  }
  return distinct(errors);
}

function nearMiss({ near }: { readonly near?: string }): string {
  return near === undefined ? "" : `; the text "${shownText(near, 60)}" must begin with v=spf1 and a blank to be one`;
}

function nearMisses({ source, domain }: SpfNode): SpfRemark[] {
  return source.state === "none" && source.near !== undefined
    ? [remark("spf-near-record", domain, `${source.reason}${nearMiss(source)}.`)]
    : [];
}

/** Terms whose look-ups find nothing for an IPv4 sender. */
function voidTerms(nodes: readonly SpfNode[]): { readonly domain: string; readonly what: string }[] {
  return nodes.flatMap(({ domain, terms }) =>
    terms.flatMap(({ voids, term }) => (voids > 0 ? [{ domain, what: `"${shownText(term, 60)}" of ${domain}` }] : [])),
  );
}

/** The `all` of the record, or of the one its redirect leads to. */
function finalQualifier(node: SpfNode): Qualifier | null {
  const last = node.terms.at(-1);
  if (last?.type === "redirect") return last.child === null ? null : finalQualifier(last.child);
  return last?.type === "all" ? (last.mechanism?.qualifier ?? null) : null;
}

function passesAll(node: SpfNode): boolean {
  for (const { type, mechanism, child } of node.terms) {
    if (type === "redirect") return child !== null && passesAll(child);
    // Whoever may choose an address of one family may choose any of it.
    const everyFamily = (mechanism?.name === "ip4" || mechanism?.name === "ip6") && mechanism.prefix === 0;
    const everyone = type === "all" || everyFamily || (type === "include" && child !== null && passesAll(child));
    if (everyone) return mechanism?.qualifier === "pass";
  }
  return false;
}

/** The records whose passes are passes of the whole: not those behind an include of another qualifier. */
function passingNodes(node: SpfNode): SpfNode[] {
  const on = node.terms.filter(({ type, mechanism }) => type === "redirect" || mechanism?.qualifier === "pass");
  return [node, ...on.flatMap(({ child }) => (child === null ? [] : passingNodes(child)))];
}

function includesOf(nodes: readonly SpfNode[]): string[] {
  return nodes.flatMap(({ terms }) =>
    terms.flatMap(({ type, target, term }) => (type === "include" ? [shownText(target ?? term, 253)] : [])),
  );
}

/** Blocks by their first address; one inside another, or twice, counts once. */
function countIp4(nodes: readonly SpfNode[]): number {
  const blocks = nodes
    .flatMap(({ terms }) => terms.flatMap(({ mechanism }) => ip4Block(mechanism) ?? []))
    .toSorted((one, other) => Number(one.value - other.value) || one.prefix - other.prefix);
  let [count, end] = [0, -1];
  for (const { value, prefix } of blocks) {
    const size = 2 ** (32 - prefix);
    // Blocks are disjoint or nested, never half over each other.
    if (Number(value) <= end) continue;
    count += size;
    end = Number(value) + size - 1;
  }
  return count;
}

function ip4Block(mechanism: SpfTerm["mechanism"]): IpBlock | null {
  if (mechanism?.name !== "ip4" || mechanism.qualifier !== "pass") return null;
  return readBlock(`${mechanism.address}/${mechanism.prefix}`);
}

function warningsOf(root: SpfNode, nodes: readonly SpfNode[]): SpfRemark[] {
  const size = root.source.state === "record" ? root.source.text.length : 0;
  const long = `The record has ${size} octets; more than ${MAX_RECORD} may not fit into one DNS answer.`;
  return distinct([
    ...remarkOnEnd(root, nodes),
    ...nodes.flatMap(remarkOnRecord),
    ...(size > MAX_RECORD ? [remark("spf-record-long", root.domain, long)] : []),
    ...voidTerms(nodes).map(({ domain, what }) =>
      remark("spf-void-term", domain, `The term ${what} finds nothing for an IPv4 sender.`),
    ),
  ]);
}

/** What senders that match nothing get. */
function remarkOnEnd(root: SpfNode, nodes: readonly SpfNode[]): SpfRemark[] {
  const final = finalQualifier(root);
  if (passesAll(root) || countIp4(passingNodes(root)) === ALL_IPV4) {
    return [remark("spf-passes-everyone", root.domain, "The record passes every sender in the world.")];
  }
  const effect = "other senders are neither allowed nor forbidden";
  if (final === "neutral") return [remark("spf-neutral-all", root.domain, `The record ends in ?all: ${effect}.`)];
  const isOpen = nodes.some(({ terms }) => terms.some(({ type, dynamic }) => type === "redirect" && dynamic));
  return final === null && !isOpen
    ? [remark("spf-without-all", root.domain, `The record ends without all: ${effect}.`)]
    : [];
}

function remarkOnRecord({ domain, source, terms }: SpfNode): SpfRemark[] {
  if (source.state !== "record") return [];
  const { mechanisms, redirect, unknown } = source.record;
  const all = mechanisms.findIndex(({ name }) => name === "all");
  const about = (id: SpfRemarkId, message: string): SpfRemark => remark(id, domain, `${domain}: ${message}`);
  return [
    ...(all >= 0 && all < mechanisms.length - 1
      ? [about("spf-terms-unreachable", "the terms after all are never reached.")]
      : []),
    ...(all >= 0 && redirect !== null
      ? [about("spf-redirect-ignored", "receivers ignore redirect, as the record has all.")]
      : []),
    ...(terms.some(({ type }) => type === "ptr")
      ? [about("spf-ptr", "the record uses ptr, which is slow and must not be used.")]
      : []),
    ...(terms.some(({ dynamic }) => dynamic)
      ? [about("spf-macro-not-followed", "a name depends on the sender by macros; it was not looked up.")]
      : []),
    ...unknown
      .slice(0, 3)
      .map((term) =>
        about("spf-unknown-modifier", `receivers ignore the unknown "${shownText(term, 60)}"${modifierHint(term)}.`),
      ),
    ...terms.flatMap(({ mechanism, term }) =>
      mechanism?.name === "ip4" && mechanism.prefix < 16 && mechanism.qualifier === "pass"
        ? [about("spf-large-block", `${shownText(term, 60)} passes ${2 ** (32 - mechanism.prefix)} addresses.`)]
        : [],
    ),
  ];
}
