import { fitName, isName, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { isNearSpf } from "#probe-agent/analysis/mail/spf/hints.ts";
import { LIMITS, type SpfResolver, type SpfType } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { expandMacros, lettersOf } from "#probe-agent/analysis/mail/spf/macro.ts";
import { isSpfRecord, parseSpf, type Mechanism, type SpfRecord } from "#probe-agent/analysis/mail/spf/parse.ts";

/** What a domain publishes, as far as it can be had. */
type SpfSource =
  | { readonly state: "record"; readonly text: string; readonly record: SpfRecord }
  /** none: no such record; several; malformed: breaks the grammar; circle: a record that leads back to itself; skipped: beyond the bounds of this walk. */
  | {
      readonly state: "none" | "several" | "malformed" | "circle" | "skipped" | "unknown";
      readonly text: string | null;
      readonly reason: string;
      /** Of malformed: all its faults, the one of `reason` first. */
      readonly faults?: readonly string[];
      /** Of none: a text that was meant as a record. */
      readonly near?: string;
    };

/** One term of a record and what follows from it without knowing a sender. */
export interface SpfTerm {
  readonly term: string;
  readonly type: Mechanism["name"] | "redirect";
  /** Null for redirect. */
  readonly mechanism: Mechanism | null;
  /** The name it asks about; null for none, or where macros make it depend on the sender. */
  readonly target: string | null;
  /** Whether the name depends on the sender. */
  readonly dynamic: boolean;
  /** The record an include or redirect leads to; null for other terms and for dynamic ones. */
  readonly child: SpfNode | null;
  /** Look-ups of an IPv4 sender at this term that find nothing; and what is wrong with its targets. */
  readonly voids: number;
  readonly fault: string | null;
  readonly unknown: string | null;
}

/** A domain's record with the terms that are evaluated, those after `all` left out. */
export interface SpfNode {
  readonly domain: string;
  readonly depth: number;
  readonly source: SpfSource;
  readonly terms: readonly SpfTerm[];
}

/** Records looked at in one walk; evaluation itself ends at ten look-ups. */
const MAX_RECORDS = 40;
const MAX_DEPTH = LIMITS.lookups + 1;
/** Terms of one record whose own names are looked up: beyond them it is over the limit anyway. */
const MAX_TARGETS = 2 * LIMITS.lookups;

interface Walk {
  readonly resolver: SpfResolver;
  readonly root: string;
  records: number;
}

/** Reads a domain's policy and all that it leads to, every level at once. */
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
  if (above.includes(key)) return bare("circle", `${domain} leads back to itself`);
  if (walk.records >= MAX_RECORDS || depth > MAX_DEPTH) return bare("skipped", `${domain} was not looked at any more`);
  walk.records += 1;
  const source = await fetchRecord(walk.resolver, domain);
  const terms = source.state === "record" ? await readTerms(walk, domain, source.record, [...above, key]) : [];
  return { domain, depth, source, terms };
}

async function fetchRecord(resolver: SpfResolver, domain: string): Promise<SpfSource> {
  if (!isName(domain)) return { state: "none", text: null, reason: "DNS cannot hold the name" };
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
    if (asks(mechanism)) targets += 1;
    return readTerm(walk, domain, mechanism, above, targets <= MAX_TARGETS);
  });
  if (all < 0 && record.redirect !== null) terms.push(readRedirect(walk, domain, record.redirect, above));
  return Promise.all(terms);
}

/** Whether a mechanism counts as one that asks the DNS (RFC 7208 section 4.6.4). */
export function asks({ name }: { readonly name: Mechanism["name"] | "redirect" }): boolean {
  return name !== "all" && name !== "ip4" && name !== "ip6";
}

const EMPTY = { child: null, voids: 0, fault: null, unknown: null };

async function readTerm(
  walk: Walk,
  domain: string,
  mechanism: Mechanism,
  above: readonly string[],
  looked: boolean,
): Promise<SpfTerm> {
  const base = { term: mechanism.text, type: mechanism.name, mechanism, dynamic: false, target: null, ...EMPTY };
  if (!asks(mechanism) || !("domain" in mechanism)) return base;
  const target = mechanism.domain === null ? domain : await staticName(walk, domain, mechanism.domain);
  if (target === null) return { ...base, dynamic: true };
  if (mechanism.name === "include") return { ...base, target, child: await visit(walk, target, above) };
  if (!looked || mechanism.name === "ptr") return { ...base, target };
  return { ...base, target, ...(await probeTarget(walk.resolver, target, mechanism.name)) };
}

async function readRedirect(walk: Walk, domain: string, spec: DomainSpec, above: readonly string[]): Promise<SpfTerm> {
  const target = await staticName(walk, domain, spec);
  const base = { term: `redirect=${spec.text}`, type: "redirect" as const, mechanism: null, target, ...EMPTY };
  if (target === null) return { ...base, dynamic: true };
  return { ...base, dynamic: false, child: await visit(walk, target, above) };
}

/** The name of a domain-spec, where it is the same for every sender of the domain. */
async function staticName(walk: Walk, domain: string, spec: DomainSpec): Promise<string | null> {
  if (![...lettersOf(spec.parts)].every((letter) => letter === "d" || letter === "o")) return null;
  return fitName(await expandMacros(spec.parts, (letter) => Promise.resolve(letter === "d" ? domain : walk.root)));
}

type Probe = Pick<SpfTerm, "voids" | "fault" | "unknown">;

/** What an IPv4 sender's look-ups at a, mx or exists come to. */
async function probeTarget(resolver: SpfResolver, target: string, name: "a" | "mx" | "exists"): Promise<Probe> {
  if (!isName(target)) return { voids: 0, fault: null, unknown: null };
  const first = await ask(resolver, target, name === "mx" ? "MX" : "A");
  if (first.unknown !== null || first.records.length === 0 || name !== "mx") {
    return { voids: first.unknown === null && first.records.length === 0 ? 1 : 0, fault: null, unknown: first.unknown };
  }
  if (first.records.length > LIMITS.names) {
    return {
      voids: 0,
      fault: `${target} has ${first.records.length} MX records; more than 10 are an error`,
      unknown: null,
    };
  }
  const hosts = first.records.map((record) => record.replace(/^\s*\d+\s+/, "").replace(/\.$/, "")).filter(isName);
  const answers = await Promise.all(hosts.map((host) => ask(resolver, host, "A")));
  return {
    voids: answers.filter(({ records, unknown }) => unknown === null && records.length === 0).length,
    fault: null,
    unknown: answers.find(({ unknown }) => unknown !== null)?.unknown ?? null,
  };
}

async function ask(resolver: SpfResolver, name: string, type: SpfType) {
  const { status, records } = await resolver.query(name, type);
  const answered = status === "NOERROR" || status === "NXDOMAIN";
  return {
    records: status === "NOERROR" ? records : [],
    unknown: answered ? null : `the ${type} records of ${name} could not be looked up (${status})`,
  };
}
