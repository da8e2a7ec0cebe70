import { readBlock, type IpBlock } from "#probe-agent/analysis/network/ip-numbers.ts";
import { modifierHint } from "#probe-agent/analysis/mail/spf/hints.ts";
import { LIMITS } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { asks, type SpfNode, type SpfTerm } from "#probe-agent/analysis/mail/spf/tree.ts";
import type { Qualifier } from "#probe-agent/analysis/mail/spf/parse.ts";
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
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** What could not be looked up. */
  readonly unknowns: readonly string[];
}

/** One term as results show it. */
export interface SpfRow {
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
    warnings: (source.state === "record" ? warningsOf(root, nodes) : nearMisses(source)).slice(0, MAX_SENTENCES),
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

/** Includes and redirects alone matter: RFC 7208 sections 4.5, 4.6, 4.6.4, 5.2, 6.1. */
function errorsOf(root: SpfNode, nodes: readonly SpfNode[], lookups: number, voids: number): string[] {
  const errors = nodes.flatMap((node) => {
    const { source, terms } = node;
    const faults = terms.flatMap(({ fault }) => fault ?? []);
    switch (source.state) {
      case "malformed":
        return [...(source.faults ?? [source.reason])];
      case "several":
      case "circle":
        return [source.reason];
      case "none":
        return node === root ? [] : [`${source.reason}, though a record leads there${nearMiss(source)}`];
      default:
        return faults;
    }
  });
  if (lookups > LIMITS.lookups) errors.push(`${lookups} terms ask the DNS; more than 10 are a permerror`);
  if (voids > LIMITS.voidLookups) {
    const which = voidTerms(nodes).slice(0, 5).join(", ");
    errors.push(`${voids} look-ups find nothing; more than 2 are a permerror: ${which}`);
  }
  return [...new Set(errors)];
}

function nearMiss({ near }: { readonly near?: string }): string {
  return near === undefined ? "" : `: "${shownText(near, 60)}" must begin with v=spf1 and a blank to be one`;
}

function nearMisses(source: SpfNode["source"]): string[] {
  return source.state === "none" && source.near !== undefined ? [`${source.reason}${nearMiss(source)}`] : [];
}

/** Terms whose look-ups find nothing for an IPv4 sender. */
function voidTerms(nodes: readonly SpfNode[]): string[] {
  return nodes.flatMap(({ domain, terms }) =>
    terms.flatMap(({ voids, term }) => (voids > 0 ? [`"${shownText(term, 60)}" of ${domain}`] : [])),
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

function warningsOf(root: SpfNode, nodes: readonly SpfNode[]): string[] {
  const own = root.source.state === "record" ? root.source : null;
  const final = finalQualifier(root);
  const warnings = nodes.flatMap(({ domain, source, terms }) => {
    if (source.state !== "record") return [];
    const { mechanisms, redirect, unknown } = source.record;
    const all = mechanisms.findIndex(({ name }) => name === "all");
    return [
      ...(all >= 0 && all < mechanisms.length - 1 ? [`${domain}: terms after all are never reached`] : []),
      ...(all >= 0 && redirect !== null ? [`${domain}: redirect counts for nothing beside all`] : []),
      ...(terms.some(({ type }) => type === "ptr") ? [`${domain}: ptr is slow and not to be used (section 5.5)`] : []),
      ...(terms.some(({ dynamic }) => dynamic)
        ? [`${domain}: a name depends on the sender by macros and was not followed`]
        : []),
      ...unknown.slice(0, 3).map((term) => `${domain}: "${shownText(term, 60)}" means nothing${modifierHint(term)}`),
      ...terms.flatMap(({ mechanism, term }) =>
        mechanism?.name === "ip4" && mechanism.prefix < 16 && mechanism.qualifier === "pass"
          ? [`${domain}: ${shownText(term, 60)} passes ${2 ** (32 - mechanism.prefix)} addresses`]
          : [],
      ),
    ];
  });
  if (passesAll(root) || countIp4(passingNodes(root)) === ALL_IPV4)
    warnings.unshift("every sender in the world passes");
  else if (final === "neutral") warnings.unshift("?all: other senders are neither allowed nor forbidden");
  else if (
    final === null &&
    !nodes.some(({ terms }) => terms.some(({ type, dynamic }) => type === "redirect" && dynamic))
  )
    warnings.unshift("without all at its end other senders are neither allowed nor forbidden");
  if ((own?.text.length ?? 0) > MAX_RECORD) {
    warnings.push(
      `the record has ${own?.text.length ?? 0} octets; more than ${MAX_RECORD} may not fit into an answer (section 3.4)`,
    );
  }
  warnings.push(...voidTerms(nodes).map((term) => `${term} finds nothing for an IPv4 sender`));
  return [...new Set(warnings)];
}
