import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { isHash, isNonce } from "#probe-agent/analysis/web/csp/sources.ts";
import {
  DEPRECATED_DIRECTIVES,
  KEYWORDS,
  KNOWN_DIRECTIVES,
  SOURCE_LIST_DIRECTIVES,
} from "#probe-agent/analysis/web/csp/vocabulary.ts";

const BARE_KEYWORDS = new Set([...KEYWORDS].map((keyword) => keyword.slice(1, -1)));

/** Returns findings about invalid, ignored and obsolete parts of one policy. */
export function syntaxFindings(policy: Policy): CspFinding[] {
  const findings: CspFinding[] = [];
  for (const directive of policy.duplicates) {
    findings.push(finding("duplicate_directive", "syntax", directive, null, "Repeated: browsers use only the first"));
  }
  for (const directive of policy.ignored) {
    findings.push(
      finding("ignored_in_meta", "syntax", directive, null, "Ignored in a meta element: send it as a header"),
    );
  }
  for (const [directive, values] of policy.directives) {
    const replacement = DEPRECATED_DIRECTIVES[directive];
    if (!KNOWN_DIRECTIVES.has(directive)) findings.push(unknownDirective(directive));
    else if (replacement !== undefined) {
      findings.push(finding("deprecated_directive", "info", directive, null, `Obsolete: ${replacement}`));
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
  if (BARE_KEYWORDS.has(value) || /^(?:nonce|sha256|sha384|sha512)-/.test(value)) {
    return [finding("invalid_keyword", "syntax", directive, value, `Single quotes are missing around ${value}`)];
  }
  if (isNonce(value)) return nonceProblems(directive, value);
  if (value.startsWith("'") && !KEYWORDS.has(value) && !isHash(value)) {
    return [finding("invalid_keyword", "syntax", directive, value, `${value} is not a keyword that browsers know`)];
  }
  return [];
}

function nonceProblems(directive: string, value: string): CspFinding[] {
  const nonce = value.slice("'nonce-".length, -1);
  const findings: CspFinding[] = [];
  if (nonce.length < 8) {
    findings.push(finding("nonce_length", "medium", directive, value, "A nonce needs at least 8 characters"));
  }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(nonce)) {
    findings.push(finding("nonce_charset", "info", directive, value, "A nonce must be base64"));
  }
  return findings;
}

function unknownDirective(directive: string): CspFinding {
  const message = directive.endsWith(":") ? "Directives do not end in a colon" : "Not a directive that browsers know";
  return finding("unknown_directive", "syntax", directive, null, message);
}

function semicolon(directive: string, value: string): CspFinding {
  return finding("missing_semicolon", "syntax", directive, value, `${value} is a directive: a semicolon is missing`);
}

function finding(
  type: CspFinding["type"],
  severity: CspFinding["severity"],
  directive: string,
  value: string | null,
  message: string,
): CspFinding {
  return { directive, value, severity, type, message };
}
