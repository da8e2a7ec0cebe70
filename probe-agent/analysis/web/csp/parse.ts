import { IGNORED_IN_META, SOURCE_LIST_DIRECTIVES } from "#probe-agent/analysis/web/csp/vocabulary.ts";

/** A policy as delivered. The text of a header can contain several policies, separated by commas. */
export interface PolicyText {
  readonly header: string;
  readonly reportOnly?: boolean;
  /** Whether it is from a meta element, in which some directives are ignored and commas do not separate policies. */
  readonly meta?: boolean;
}

/** One parsed policy (CSP3 section 2.2.1). */
export interface Policy {
  readonly raw: string;
  readonly source: "header" | "meta" | "report-only";
  /** Values by directive name in lower case, in the policy's order. The first of repeated directives counts. */
  readonly directives: ReadonlyMap<string, readonly string[]>;
  /** Repeated names. Browsers ignore their later values. */
  readonly duplicates: readonly string[];
  /** Directives that browsers ignore because the policy is in a meta element. */
  readonly ignored: readonly string[];
  /** Whether directives, or sources of a directive, were left out because of our limits. */
  readonly truncated: boolean;
}

/** Maximum length of the text of all policies, in characters. Servers can send far less in headers. */
const MAX_POLICY_CHARACTERS = 256 * 1024;
/** Maximum number of policies, and of directives of one policy. */
const MAX_POLICIES = 64;
const MAX_DIRECTIVES = 1000;
/** Maximum number of source expressions kept of a directive. */
export const MAX_SOURCES = 2000;

/** Parses delivered policies. Drops those without a directive. */
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

/** Parses one serialized policy. Never fails. */
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
 * Converts keywords, schemes and hosts to lower case, because they are case-insensitive. Nonces, hashes and paths keep
 * their case (CSP3 sections 2.3.1 and 6.7.2).
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
