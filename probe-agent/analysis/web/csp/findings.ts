import { cspFinding, orderFindings, type CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { decidingDirective, activeSources } from "#probe-agent/analysis/web/csp/effective.ts";
import {
  isNonceOrHash,
  isHash,
  isNonce,
  isSchemeSource,
  isWildcard,
  readHostSource,
} from "#probe-agent/analysis/web/csp/sources.ts";
import {
  DEPRECATED_DIRECTIVES,
  KEYWORDS,
  KNOWN_DIRECTIVES,
  SOURCE_LIST_DIRECTIVES,
} from "#probe-agent/analysis/web/csp/vocabulary.ts";
import { isIP } from "node:net";
import { bypassHost } from "#probe-agent/analysis/web/csp/bypass-hosts.ts";

const BARE_KEYWORDS = new Set([...KEYWORDS].map((keyword) => keyword.slice(1, -1)));

/**
 * Returns all findings about the policies of one page. An attack must pass every policy, so a security finding is
 * reported only if no policy prevents the attack. Syntax errors are reported for each policy.
 */
export function cspFindings(policies: readonly Policy[], truncated: boolean): CspFinding[] {
  const findings: CspFinding[] = [];
  for (const policy of policies) findings.push(...syntaxFindings(policy), ...valueFindings(policy));
  for (const check of SECURITY_CHECKS) {
    const perPolicy = policies.map(check);
    if (perPolicy.every((found) => found.length > 0)) findings.push(...(perPolicy[0] ?? []));
  }
  const strict = policies.map(strictFindings);
  if (strict.every((found) => found.length > 0)) findings.push(...(strict[0] ?? []));
  for (const policy of policies) findings.push(...ignoredFindings(policy));
  if (policies.length > 0) findings.push(...trustedTypesFindings(policies), ...reportingFindings(policies));
  if (truncated) findings.push(cspFinding("truncated", "info", ""));
  return orderFindings(findings);
}

/** Returns what a policy lacks to be strict (nonces or hashes, 'strict-dynamic') and to work in older browsers too. */
function strictFindings(policy: Policy): CspFinding[] {
  const directive = decidingDirective(policy, "script-src");
  if (directive === null) return [];
  const values = policy.directives.get(directive) ?? [];
  const trusted = values.some(isNonceOrHash);
  const dynamic = values.includes("'strict-dynamic'");
  const findings: CspFinding[] = [];
  const add = (type: CspFinding["type"], severity: CspFinding["severity"]): void =>
    void findings.push(cspFinding(type, severity, directive));
  if (values.some((value) => !value.startsWith("'")) && !dynamic) add("strict_dynamic", "strict_csp");
  if (dynamic && !trusted) add("strict_dynamic_not_standalone", "info");
  if (trusted && !values.includes("'unsafe-inline'")) add("unsafe_inline_fallback", "strict_csp");
  if (dynamic && !values.some((value) => /^(?:https?:|\*)$/.test(value) || value.includes("."))) {
    add("allowlist_fallback", "strict_csp");
  }
  return findings;
}

/** Returns the sources that newer browsers ignore in a policy. They need no correction. */
function ignoredFindings(policy: Policy): CspFinding[] {
  const directive = decidingDirective(policy, "script-src");
  const values = policy.directives.get(directive ?? "") ?? [];
  const dynamic = values.includes("'strict-dynamic'");
  return values
    .filter((value) => {
      if (value === "'unsafe-inline'") return dynamic || values.some(isNonceOrHash);
      return dynamic && (value === "'self'" || !value.startsWith("'"));
    })
    .map((value) => cspFinding("ignored", "none", directive ?? "", value));
}

/** Returns a finding if no policy requires Trusted Types for scripts. */
function trustedTypesFindings(policies: readonly Policy[]): CspFinding[] {
  const required = policies.some((policy) => policy.directives.get("require-trusted-types-for")?.includes("'script'"));
  return required ? [] : [cspFinding("require_trusted_types_for_scripts", "info", "require-trusted-types-for")];
}

/** Returns a finding if no policy reports violations, or if only browsers with the Reporting API do. */
function reportingFindings(policies: readonly Policy[]): CspFinding[] {
  const has = (name: string): boolean => policies.some((policy) => (policy.directives.get(name) ?? []).length > 0);
  if (has("report-uri")) return [];
  if (has("report-to")) return [cspFinding("report_to_only", "info", "report-to")];
  return [cspFinding("reporting_destination_missing", "info", "report-uri")];
}

/** Returns findings about invalid, ignored and obsolete parts of one policy. */
function syntaxFindings(policy: Policy): CspFinding[] {
  const findings: CspFinding[] = [];
  for (const directive of policy.duplicates) findings.push(cspFinding("duplicate_directive", "syntax", directive));
  for (const directive of policy.ignored) findings.push(cspFinding("ignored_in_meta", "syntax", directive));
  for (const [directive, values] of policy.directives) {
    if (!KNOWN_DIRECTIVES.has(directive)) findings.push(cspFinding("unknown_directive", "syntax", directive));
    else if (DEPRECATED_DIRECTIVES[directive] !== undefined) {
      findings.push(cspFinding("deprecated_directive", "info", directive));
    }
    if (SOURCE_LIST_DIRECTIVES.has(directive))
      findings.push(...values.flatMap((value) => sourceProblems(directive, value)));
    else
      findings.push(
        ...values.filter((value) => KNOWN_DIRECTIVES.has(value)).map((value) => semicolon(directive, value)),
      );
  }
  return findings;
}

function sourceProblems(directive: string, value: string): CspFinding[] {
  if (KNOWN_DIRECTIVES.has(value)) return [semicolon(directive, value)];
  const isUnquoted = BARE_KEYWORDS.has(value) || /^(?:nonce|sha256|sha384|sha512)-/.test(value);
  if (!isUnquoted && isNonce(value)) return nonceProblems(directive, value);
  const isUnknown = value.startsWith("'") && !KEYWORDS.has(value) && !isHash(value);
  return isUnquoted || isUnknown ? [cspFinding("invalid_keyword", "syntax", directive, value)] : [];
}

function nonceProblems(directive: string, value: string): CspFinding[] {
  const nonce = value.slice("'nonce-".length, -1);
  const findings: CspFinding[] = [];
  if (nonce.length < 8) findings.push(cspFinding("nonce_length", "medium", directive, value));
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(nonce)) findings.push(cspFinding("nonce_charset", "info", directive, value));
  return findings;
}

function semicolon(directive: string, value: string): CspFinding {
  return cspFinding("missing_semicolon", "syntax", directive, value);
}

type Check = (policy: Policy) => CspFinding[];

/** Directives that can let a script run. */
const RUN_SCRIPTS = ["script-src", "script-src-attr", "script-src-elem", "object-src", "base-uri"];
const SCRIPTS = ["script-src", "script-src-attr", "script-src-elem"];
const STYLES = ["style-src", "style-src-attr", "style-src-elem"];

/** Checks for weaknesses of one policy. A weakness counts only if the check finds it in every policy of the page. */
const SECURITY_CHECKS: readonly Check[] = [
  missingDirective("object-src"),
  missingDirective("script-src"),
  missingBaseUri,
  allows(SCRIPTS, "script_unsafe_inline", "high", (source) => source === "'unsafe-inline'"),
  allows(SCRIPTS, "script_unsafe_hashes", "medium_maybe", (source) => source === "'unsafe-hashes'"),
  allows(SCRIPTS, "script_unsafe_eval", "medium_maybe", (source) => source === "'unsafe-eval'"),
  allows(RUN_SCRIPTS, "plain_url_schemes", "high", (source) => /^(?:data|https?):$/.test(source)),
  allows(RUN_SCRIPTS, "plain_wildcard", "high", isWildcard),
  scriptAllowList,
  objectAllowList,
  allows(STYLES, "style_unsafe_inline", "info", (source) => source === "'unsafe-inline'"),
];

/** Returns findings about single values; they are reported for every policy. */
function valueFindings(policy: Policy): CspFinding[] {
  const findings: CspFinding[] = [];
  for (const [directive, values] of policy.directives) {
    for (const value of values) {
      if (value.startsWith("http://")) findings.push(cspFinding("src_http", "medium", directive, value));
      const host = readHostSource(value)?.host.replace(/^\[|\]$/g, "") ?? "";
      if (isIP(host) !== 0) findings.push(cspFinding("ip_source", "info", directive, value));
    }
  }
  return findings;
}

function missingDirective(directive: string): Check {
  return (policy) =>
    decidingDirective(policy, directive) === null ? [cspFinding("missing_directives", "high", directive)] : [];
}

/** Reports a missing base-uri: a base element redirects relative script URLs despite nonces or dynamic hashes. */
function missingBaseUri(policy: Policy): CspFinding[] {
  const scripts = policy.directives.get(decidingDirective(policy, "script-src") ?? "") ?? [];
  const needed = scripts.some(isNonce) || (scripts.some(isHash) && scripts.includes("'strict-dynamic'"));
  if (!needed || policy.directives.has("base-uri")) return [];
  return [cspFinding("missing_directives", "high", "base-uri")];
}

/** Applies `test` to the sources that apply to each of `names`, once for each deciding directive. */
function overSources(
  policy: Policy,
  names: readonly string[],
  test: (source: string, directive: string) => CspFinding[],
) {
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const directive = decidingDirective(policy, name);
    if (directive === null || seen.has(directive)) return [];
    seen.add(directive);
    return (activeSources(policy, name) ?? []).flatMap((source) => test(source, directive));
  });
}

/** Makes a check that finds the sources that match, in the directives that decide for `names`. */
function allows(
  names: readonly string[],
  type: CspFinding["type"],
  severity: CspFinding["severity"],
  matches: (source: string) => boolean,
): Check {
  return (policy) =>
    overSources(policy, names, (value, directive) =>
      matches(value) ? [cspFinding(type, severity, directive, value)] : [],
    );
}

function scriptAllowList(policy: Policy): CspFinding[] {
  const evalAllowed = (activeSources(policy, "script-src") ?? []).includes("'unsafe-eval'");
  return overSources(policy, ["script-src", "script-src-elem"], (value, directive) => {
    const isHost = !value.startsWith("'") && !isSchemeSource(value) && value.includes(".");
    if (value !== "'self'" && !isHost) return [];
    const severity = isHost && bypassHost(value, evalAllowed) !== null ? "high" : "medium_maybe";
    return [cspFinding("script_allowlist_bypass", severity, directive, value)];
  });
}

function objectAllowList(policy: Policy): CspFinding[] {
  if (!policy.directives.has("object-src")) return [];
  return (activeSources(policy, "object-src") ?? []).map((value) =>
    cspFinding("object_allowlist_bypass", "medium_maybe", "object-src", value),
  );
}
