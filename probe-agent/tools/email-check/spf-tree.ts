import { isName, truncateName, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { isNearSpf } from "#probe-agent/analysis/mail/spf/hints.ts";
import { LIMITS, type SpfResolver, type SpfType } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { expandMacros, lettersOf } from "#probe-agent/analysis/mail/spf/macro.ts";
import { isSpfRecord, parseSpf, type Mechanism, type SpfRecord } from "#probe-agent/analysis/mail/spf/parse.ts";

/**
 * SPF record of a domain, or why there is none to evaluate: `none` (no record), `several` (more than one), `malformed`
 * (breaks the grammar), `circle` (refers back to itself), `skipped` (beyond the limits of this walk), `unknown` (the
 * lookup failed).
 */
type SpfSource =
  | { readonly state: "record"; readonly text: string; readonly record: SpfRecord }
  | {
      readonly state: "none" | "several" | "malformed" | "circle" | "skipped" | "unknown";
      readonly text: string | null;
      readonly reason: string;
      /** All faults if the state is malformed. The first is the one in `reason`. */
      readonly faults?: readonly string[];
      /** Text that was probably meant as a record, if the state is none. */
      readonly near?: string;
    };

/** One term of a record and its effects that are independent of a sender. */
export interface SpfTerm {
  readonly term: string;
  readonly type: Mechanism["name"] | "redirect";
  /** null for redirect. */
  readonly mechanism: Mechanism | null;
  /** Name that the term looks up; null if it has none or the name depends on the sender. */
  readonly target: string | null;
  /** Whether the name depends on the sender because of a macro. */
  readonly dynamic: boolean;
  /** Record of an include or redirect; null for other terms and for dynamic names. */
  readonly child: SpfNode | null;
  /** Number of lookups of this term that return no records for an IPv4 sender. */
  readonly voids: number;
  /** Fault of the names that the term looks up; null if there is none. */
  readonly fault: string | null;
  /** Why a lookup of this term failed; null if none failed. */
  readonly unknown: string | null;
}

/** A domain's record with the terms that receivers evaluate. Terms after `all` are left out. */
export interface SpfNode {
  readonly domain: string;
  readonly depth: number;
  readonly source: SpfSource;
  readonly terms: readonly SpfTerm[];
}

/** Maximum number of records that one walk reads. Receivers themselves stop after ten lookups. */
const MAX_RECORDS = 40;
const MAX_DEPTH = LIMITS.lookups + 1;
/** Maximum number of terms of one record whose names are looked up. A record with more exceeds the limit anyway. */
const MAX_TARGETS = 2 * LIMITS.lookups;

interface Walk {
  readonly resolver: SpfResolver;
  readonly root: string;
  records: number;
}

/** Reads a domain's record and all records that it includes or redirects to. Records of one level load in parallel. */
export function walkSpf(domain: string, resolver: SpfResolver): Promise<SpfNode> {
  return visit({ resolver, root: domain, records: 0 }, domain, []);
}

async function visit(walk: Walk, domain: string, above: readonly string[]): Promise<SpfNode> {
  const depth = above.length;
  const key = domain.toLowerCase();
  const bare = (state: "circle" | "skipped", reason: string): SpfNode => ({
    domain,
    depth,
    source: { state, text: null, reason },
    terms: [],
  });
  if (above.includes(key)) return bare("circle", `${domain} refers back to itself by include or redirect`);
  if (walk.records >= MAX_RECORDS || depth > MAX_DEPTH) {
    return bare("skipped", `${domain} was not read because the policy has too many records`);
  }
  walk.records += 1;
  const source = await fetchRecord(walk.resolver, domain);
  const terms = source.state === "record" ? await readTerms(walk, domain, source.record, [...above, key]) : [];
  return { domain, depth, source, terms };
}

async function fetchRecord(resolver: SpfResolver, domain: string): Promise<SpfSource> {
  if (!isName(domain)) return { state: "none", text: null, reason: "The domain name is not valid in DNS" };
  const { status, records } = await resolver.query(domain, "TXT");
  if (status !== "NOERROR" && status !== "NXDOMAIN") {
    return { state: "unknown", text: null, reason: `the TXT records of ${domain} could not be looked up (${status})` };
  }
  const policies = (status === "NOERROR" ? records : []).filter(isSpfRecord);
  const [text] = policies;
  if (text === undefined) {
    const near = status === "NOERROR" ? records.find(isNearSpf) : undefined;
    const none = { state: "none", text: null, reason: `${domain} has no SPF record` } as const;
    return near === undefined ? none : { ...none, near };
  }
  if (policies.length > 1) {
    return { state: "several", text, reason: `${domain} has ${policies.length} SPF records; only one is allowed` };
  }
  const parsed = parseSpf(text);
  if (!parsed.ok) {
    const faults = parsed.faults.map((fault) => `${domain}: ${fault}`);
    return { state: "malformed", text, reason: `${domain}: ${parsed.error}`, faults };
  }
  return { state: "record", text, record: parsed.record };
}

async function readTerms(
  walk: Walk,
  domain: string,
  record: SpfRecord,
  above: readonly string[],
): Promise<readonly SpfTerm[]> {
  const all = record.mechanisms.findIndex(({ name }) => name === "all");
  const reached = all < 0 ? record.mechanisms : record.mechanisms.slice(0, all + 1);
  let targets = 0;
  const terms = reached.map((mechanism) => {
    if (needsLookup(mechanism)) targets += 1;
    return readTerm(walk, domain, mechanism, above, targets <= MAX_TARGETS);
  });
  if (all < 0 && record.redirect !== null) terms.push(readRedirect(walk, domain, record.redirect, above));
  return Promise.all(terms);
}

/** Reports whether a mechanism counts as a term with a DNS lookup (RFC 7208 section 4.6.4). */
export function needsLookup({ name }: { readonly name: Mechanism["name"] | "redirect" }): boolean {
  return name !== "all" && name !== "ip4" && name !== "ip6";
}

const EMPTY = { child: null, voids: 0, fault: null, unknown: null };

async function readTerm(
  walk: Walk,
  domain: string,
  mechanism: Mechanism,
  above: readonly string[],
  isWithinLimit: boolean,
): Promise<SpfTerm> {
  const base = { term: mechanism.text, type: mechanism.name, mechanism, dynamic: false, target: null, ...EMPTY };
  if (!needsLookup(mechanism) || !("domain" in mechanism)) return base;
  const target = mechanism.domain === null ? domain : await staticName(walk, domain, mechanism.domain);
  if (target === null) return { ...base, dynamic: true };
  if (mechanism.name === "include") return { ...base, target, child: await visit(walk, target, above) };
  if (!isWithinLimit || mechanism.name === "ptr") return { ...base, target };
  return { ...base, target, ...(await probeTarget(walk.resolver, target, mechanism.name)) };
}

async function readRedirect(walk: Walk, domain: string, spec: DomainSpec, above: readonly string[]): Promise<SpfTerm> {
  const target = await staticName(walk, domain, spec);
  const base = { term: `redirect=${spec.text}`, type: "redirect" as const, mechanism: null, target, ...EMPTY };
  if (target === null) return { ...base, dynamic: true };
  return { ...base, dynamic: false, child: await visit(walk, target, above) };
}

/** Returns the expanded name of a domain-spec; null if the name depends on the sender. */
async function staticName(walk: Walk, domain: string, spec: DomainSpec): Promise<string | null> {
  if (![...lettersOf(spec.parts)].every((letter) => letter === "d" || letter === "o")) return null;
  return truncateName(await expandMacros(spec.parts, (letter) => Promise.resolve(letter === "d" ? domain : walk.root)));
}

type Probe = Pick<SpfTerm, "voids" | "fault" | "unknown">;

/** Looks up the names of an a, mx or exists term as a receiver does for an IPv4 sender. */
async function probeTarget(resolver: SpfResolver, target: string, name: "a" | "mx" | "exists"): Promise<Probe> {
  if (!isName(target)) return { voids: 0, fault: null, unknown: null };
  const first = await queryRecords(resolver, target, name === "mx" ? "MX" : "A");
  if (first.unknown !== null || first.records.length === 0 || name !== "mx") {
    return { voids: first.unknown === null && first.records.length === 0 ? 1 : 0, fault: null, unknown: first.unknown };
  }
  if (first.records.length > LIMITS.names) {
    return {
      voids: 0,
      fault: `${target} has ${first.records.length} MX records; with more than 10, receivers return permerror`,
      unknown: null,
    };
  }
  const hosts = first.records.map((record) => record.replace(/^\s*\d+\s+/, "").replace(/\.$/, "")).filter(isName);
  const answers = await Promise.all(hosts.map((host) => queryRecords(resolver, host, "A")));
  return {
    voids: answers.filter(({ records, unknown }) => unknown === null && records.length === 0).length,
    fault: null,
    unknown: answers.find(({ unknown }) => unknown !== null)?.unknown ?? null,
  };
}

/** Looks up records. `unknown` is the reason if the lookup failed, otherwise null. */
async function queryRecords(resolver: SpfResolver, name: string, type: SpfType) {
  const { status, records } = await resolver.query(name, type);
  const answered = status === "NOERROR" || status === "NXDOMAIN";
  return {
    records: status === "NOERROR" ? records : [],
    unknown: answered ? null : `the ${type} records of ${name} could not be looked up (${status})`,
  };
}
