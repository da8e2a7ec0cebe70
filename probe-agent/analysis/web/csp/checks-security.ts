import { isIP } from "node:net";
import { bypassHost } from "#probe-agent/analysis/web/csp/bypass-hosts.ts";
import { activeSources, decidingDirective } from "#probe-agent/analysis/web/csp/effective.ts";
import { cspFinding, type CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { isHash, isNonce, isSchemeSource, isWildcard, readHostSource } from "#probe-agent/analysis/web/csp/sources.ts";

type Check = (policy: Policy) => CspFinding[];

/** Directives that can let a script run. */
const RUN_SCRIPTS = ["script-src", "script-src-attr", "script-src-elem", "object-src", "base-uri"];
const SCRIPTS = ["script-src", "script-src-attr", "script-src-elem"];
const STYLES = ["style-src", "style-src-attr", "style-src-elem"];

/** Checks for weaknesses of one policy. A weakness counts only if the check finds it in every policy of the page. */
export const SECURITY_CHECKS: readonly Check[] = [
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
export function valueFindings(policy: Policy): CspFinding[] {
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
