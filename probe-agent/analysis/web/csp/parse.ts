import { IGNORED_IN_META, SOURCE_LIST_DIRECTIVES } from "#probe-agent/analysis/web/csp/vocabulary.ts";

/** A policy as delivered. A header's text may hold several, separated by commas. */
export interface PolicyText {
  readonly header: string;
  readonly reportOnly?: boolean;
  /** From a meta element: some directives are ignored there, and commas do not separate. */
  readonly meta?: boolean;
}

/** One parsed policy (CSP3 section 2.2.1). */
export interface Policy {
  readonly raw: string;
  readonly source: "header" | "meta" | "report-only";
  /** Name in lower case -> values; of repeated directives the first counts. Insertion order is the policy's. */
  readonly directives: ReadonlyMap<string, readonly string[]>;
  /** Names given again, whose later values browsers ignore. */
  readonly duplicates: readonly string[];
  /** Directives ignored because of where the policy stands. */
  readonly ignored: readonly string[];
  /** More was given than is looked at: directives, or sources of one. */
  readonly truncated: boolean;
}

/** Octets of policy text looked at over all policies; what a server can send in headers is far below. */
const MAX_POLICY_CHARACTERS = 256 * 1024;
/** Policies and directives beyond are not looked at. */
const MAX_POLICIES = 64;
const MAX_DIRECTIVES = 1000;
/** Source expressions kept per directive. */
export const MAX_SOURCES = 2000;

/** Parses delivered policies; those without any directive are dropped. */
export function parsePolicies(texts: readonly PolicyText[]): { policies: Policy[]; truncated: boolean } {
  const policies: Policy[] = [];
  let left = MAX_POLICY_CHARACTERS;
  let truncated = false;
  for (const text of texts) {
    const source = text.reportOnly === true ? "report-only" : text.meta === true ? "meta" : "header";
    truncated ||= text.header.length > left;
    const seen = text.header.slice(0, Math.max(0, left)).toWellFormed();
    left -= seen.length;
    for (const raw of source === "meta" ? [seen] : seen.split(",")) {
      const policy = parsePolicy(raw, source);
      truncated ||= policy.truncated;
      if (policy.directives.size === 0 && policy.ignored.length === 0) continue;
      if (policies.length < MAX_POLICIES) policies.push(policy);
      else truncated = true;
    }
  }
  return { policies, truncated };
}

/** Parses one serialized policy; never fails. */
function parsePolicy(raw: string, source: Policy["source"]): Policy {
  const directives = new Map<string, readonly string[]>();
  const duplicates: string[] = [];
  const ignored: string[] = [];
  let truncated = false;
  for (const token of raw.split(";")) {
    const [first = "", ...values] = token.split(/[\t\n\f\r ]+/).filter((part) => part !== "");
    if (first === "") continue;
    if (directives.size >= MAX_DIRECTIVES) {
      truncated = true;
      break;
    }
    const name = first.toLowerCase();
    if (source === "meta" && IGNORED_IN_META.has(name)) ignored.push(name);
    else if (directives.has(name)) duplicates.push(name);
    else {
      const kept = values.slice(0, MAX_SOURCES);
      truncated ||= kept.length < values.length;
      directives.set(name, SOURCE_LIST_DIRECTIVES.has(name) ? unique(kept.map(normaliseSource)) : kept);
    }
  }
  return { raw: raw.trim(), source, directives, duplicates: unique(duplicates), ignored: unique(ignored), truncated };
}

/**
 * Keywords, schemes and hosts compare without case and are put in lower case; nonces, hashes and paths keep theirs
 * (CSP3 sections 2.3.1 and 6.7.2).
 */
function normaliseSource(value: string): string {
  const coded = /^'(nonce|sha256|sha384|sha512)-/i.exec(value);
  if (coded !== null) return coded[0].toLowerCase() + value.slice(coded[0].length);
  if (value.startsWith("'")) return value.toLowerCase();
  const authority = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/]*/i.exec(value)?.[0] ?? "";
  return authority.toLowerCase() + value.slice(authority.length);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
