import { isIP } from "node:net";
import { bypassHost } from "#probe-agent/analysis/web/csp/bypass-hosts.ts";
import { activeSources, decidingDirective } from "#probe-agent/analysis/web/csp/effective.ts";
import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { isHash, isNonce, isSchemeSource, isWildcard, readHostSource } from "#probe-agent/analysis/web/csp/sources.ts";

type Check = (policy: Policy) => CspFinding[];

/** Directives that can let a script run. */
const RUN_SCRIPTS = ["script-src", "script-src-attr", "script-src-elem", "object-src", "base-uri"];
const SCRIPTS = ["script-src", "script-src-attr", "script-src-elem"];

/** Checks for weaknesses of one policy. A weakness counts only if the check finds it in every policy of the page. */
export const SECURITY_CHECKS: readonly Check[] = [
  missingObjectSrc,
  missingScriptSrc,
  missingBaseUri,
  unsafeInline,
  unsafeHashes,
  unsafeEval,
  plainSchemes,
  wildcards,
  scriptAllowList,
  objectAllowList,
  unsafeInlineStyle,
];

/** Returns findings about single values; they are reported for every policy. */
export function valueFindings(policy: Policy): CspFinding[] {
  const findings: CspFinding[] = [];
  for (const [directive, values] of policy.directives) {
    for (const value of values) {
      if (value.startsWith("http://")) findings.push(insecureSource(directive, value));
      const host = readHostSource(value)?.host.replace(/^\[|\]$/g, "") ?? "";
      if (isIP(host) !== 0) {
        const message =
          host === "127.0.0.1" ? "Allows the visitor's own machine" : "Browsers ignore IP addresses as sources";
        findings.push({ directive, value, severity: "info", type: "ip_source", message });
      }
    }
  }
  return findings;
}

function insecureSource(directive: string, value: string): CspFinding {
  const message = directive === "report-uri" ? "Reports are sent unencrypted" : "Allows loading over unencrypted HTTP";
  return { directive, value, severity: "medium", type: "src_http", message };
}

function missing(directive: string, message: string): CspFinding {
  return { directive, value: null, severity: "high", type: "missing_directives", message };
}

function missingObjectSrc(policy: Policy): CspFinding[] {
  if (decidingDirective(policy, "object-src") !== null) return [];
  return [missing("object-src", "Without object-src, plugins and embeds load from any host: set it to 'none'")];
}

function missingScriptSrc(policy: Policy): CspFinding[] {
  if (decidingDirective(policy, "script-src") !== null) return [];
  return [missing("script-src", "Without script-src, scripts load from any host")];
}

/** Reports a missing base-uri: a base element redirects relative script URLs despite nonces or dynamic hashes. */
function missingBaseUri(policy: Policy): CspFinding[] {
  const scripts = policy.directives.get(decidingDirective(policy, "script-src") ?? "") ?? [];
  const needed = scripts.some(isNonce) || (scripts.some(isHash) && scripts.includes("'strict-dynamic'"));
  if (!needed || policy.directives.has("base-uri")) return [];
  return [missing("base-uri", "Without base-uri, an injected base element redirects all relative script URLs")];
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

function unsafeInline(policy: Policy): CspFinding[] {
  const message = "'unsafe-inline' lets injected scripts and event handlers run";
  return overSources(policy, SCRIPTS, (value, directive) =>
    value === "'unsafe-inline'" ? [{ directive, value, severity: "high", type: "script_unsafe_inline", message }] : [],
  );
}

function unsafeHashes(policy: Policy): CspFinding[] {
  const message = "'unsafe-hashes' lets injected event handlers run if their hash is listed";
  return overSources(policy, SCRIPTS, (value, directive) =>
    value === "'unsafe-hashes'"
      ? [{ directive, value, severity: "medium_maybe", type: "script_unsafe_hashes", message }]
      : [],
  );
}

function unsafeEval(policy: Policy): CspFinding[] {
  const message = "'unsafe-eval' lets text that is injected into eval() and similar functions run";
  return overSources(policy, SCRIPTS, (value, directive) =>
    value === "'unsafe-eval'"
      ? [{ directive, value, severity: "medium_maybe", type: "script_unsafe_eval", message }]
      : [],
  );
}

function plainSchemes(policy: Policy): CspFinding[] {
  return overSources(policy, RUN_SCRIPTS, (value, directive) => {
    if (value !== "data:" && value !== "http:" && value !== "https:") return [];
    const message = `${value} in ${directive} allows scripts of any origin`;
    return [{ directive, value, severity: "high", type: "plain_url_schemes", message }];
  });
}

function wildcards(policy: Policy): CspFinding[] {
  return overSources(policy, RUN_SCRIPTS, (value, directive) => {
    if (!isWildcard(value)) return [];
    return [{ directive, value, severity: "high", type: "plain_wildcard", message: `${directive} allows any host` }];
  });
}

function scriptAllowList(policy: Policy): CspFinding[] {
  const evalAllowed = (activeSources(policy, "script-src") ?? []).includes("'unsafe-eval'");
  return overSources(policy, ["script-src", "script-src-elem"], (value, directive) => {
    const type = "script_allowlist_bypass";
    if (value === "'self'") {
      const message = "'self' is safe only without JSONP, AngularJS and user files on this host";
      return [{ directive, value, severity: "medium_maybe", type, message }];
    }
    if (value.startsWith("'") || isSchemeSource(value) || !value.includes(".")) return [];
    const known = bypassHost(value, evalAllowed);
    if (known === null) {
      const message = "No bypass is known for this host; make sure that it serves no JSONP and no AngularJS";
      return [{ directive, value, severity: "medium_maybe", type, message }];
    }
    const message = `${known.host} serves ${known.serves}, which bypasses this policy`;
    return [{ directive, value, severity: "high", type, message }];
  });
}

function objectAllowList(policy: Policy): CspFinding[] {
  if (!policy.directives.has("object-src")) return [];
  const message = "object-src should be 'none'";
  return (activeSources(policy, "object-src") ?? []).map((value) => ({
    directive: "object-src",
    value,
    severity: "medium_maybe",
    type: "object_allowlist_bypass",
    message,
  }));
}

function unsafeInlineStyle(policy: Policy): CspFinding[] {
  const message = "'unsafe-inline' lets injected styles change the page and leak data";
  return overSources(policy, ["style-src", "style-src-attr", "style-src-elem"], (value, directive) =>
    value === "'unsafe-inline'" ? [{ directive, value, severity: "info", type: "style_unsafe_inline", message }] : [],
  );
}
