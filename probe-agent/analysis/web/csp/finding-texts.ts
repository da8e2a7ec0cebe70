import type { Severity } from "#shared/findings.ts";
import type { CspFindingType } from "#probe-agent/analysis/web/csp/finding.ts";
import { DEPRECATED_DIRECTIVES, KEYWORDS } from "#probe-agent/analysis/web/csp/vocabulary.ts";

/** Severity and texts of one type. A policy only limits what an injection can do, so the maximum is a warning. */
interface CspDescription {
  readonly severity: Severity;
  readonly message: (directive: string, value: string) => string;
  readonly how: ((directive: string, value: string) => string) | null;
}

/** What a missing directive allows, and the value to set. */
export const MISSING_DIRECTIVES: Readonly<
  Record<string, { readonly open: string; readonly value: string; readonly severity: Severity }>
> = {
  "script-src": { open: "scripts load from any host", value: "'self'", severity: "warning" },
  "object-src": { open: "object and embed elements load from any host", value: "'none'", severity: "warning" },
  "base-uri": {
    open: "an injected base element redirects all relative script URLs",
    value: "'none'",
    severity: "warning",
  },
  "form-action": { open: "an injected form can send its data to any host", value: "'self'", severity: "info" },
  "frame-ancestors": { open: "any site can frame the page", value: "'self'", severity: "info" },
};

const REMOVE = (directive: string, value: string): string => `Remove ${value} from ${directive}.`;
/** Advice to replace a list of hosts. */
export const NONCE_INSTEAD_OF_HOST =
  "Replace the host with a nonce: script-src 'nonce-RANDOM' 'strict-dynamic', with a new RANDOM in each response.";

/** Severity and texts by type of finding. */
export const CSP_DESCRIPTIONS: Readonly<Record<CspFindingType, CspDescription>> = {
  missing_semicolon: {
    severity: "warning",
    message: (directive, value) =>
      `${directive} lists ${value} as a source, but ${value} is a directive without a semicolon before it.`,
    how: (directive, value) => `Put a semicolon before ${value} in ${directive}.`,
  },
  unknown_directive: {
    severity: "warning",
    message: (directive) =>
      directive.endsWith(":")
        ? `${directive} ends in a colon, so browsers ignore it.`
        : `${directive} is not a directive, so browsers ignore it.`,
    how: (directive) =>
      directive.endsWith(":")
        ? `Write ${directive.slice(0, -1)} without the colon.`
        : `Correct or remove ${directive}.`,
  },
  invalid_keyword: {
    severity: "warning",
    message: (directive, value) =>
      value.startsWith("'")
        ? `${directive} contains ${value}, which is not a keyword, so browsers ignore it.`
        : `${directive} contains ${value} without single quotes, so browsers read it as a host.`,
    how: (directive, value) =>
      value.startsWith("'")
        ? `Correct or remove ${value} in ${directive}. Keywords are e.g. ${[...KEYWORDS].slice(0, 3).join(", ")}.`
        : `Write '${value}' in ${directive}.`,
  },
  duplicate_directive: {
    severity: "warning",
    message: (directive) => `The policy contains ${directive} more than once; browsers use only the first.`,
    how: (directive) => `Merge the values into one ${directive}.`,
  },
  ignored_in_meta: {
    severity: "warning",
    message: (directive) => `A meta element sets ${directive}; browsers ignore it there.`,
    how: (directive) => `Send ${directive} in the Content-Security-Policy header.`,
  },
  meta_after_script: {
    severity: "warning",
    message: () => "A meta element sets a policy after a script; the policy does not restrict what precedes it.",
    how: () => "Send the policy in the Content-Security-Policy header, or move the meta element before all scripts.",
  },
  meta_outside_head: {
    severity: "warning",
    message: () => "A meta element outside the head sets a policy; browsers ignore it.",
    how: () => "Send the policy in the Content-Security-Policy header, or move the meta element into the head.",
  },
  report_only_in_meta: {
    severity: "warning",
    message: () => "A meta element sets a report-only policy; browsers ignore it.",
    how: () => "Send the policy in the Content-Security-Policy-Report-Only header.",
  },
  undefined_reporting_group: {
    severity: "warning",
    message: (_, value) => `report-to names the group ${value}, which no header defines: violations are not reported.`,
    how: (_, value) =>
      `Send the header Reporting-Endpoints: ${value}="https://HOST/PATH" with the address of your collector.`,
  },
  nonce_charset: {
    severity: "info",
    message: (directive, value) => `The nonce ${value} in ${directive} is not base64.`,
    how: () => "Encode at least 16 random bytes in base64 for each response.",
  },
  nonce_length: {
    severity: "warning",
    message: (directive, value) => `The nonce ${value} in ${directive} has fewer than 8 characters and can be guessed.`,
    how: () => "Encode at least 16 random bytes in base64 for each response.",
  },
  missing_directives: {
    severity: "warning",
    message: (directive) =>
      `The policy has no ${directive}: ${MISSING_DIRECTIVES[directive]?.open ?? "nothing restricts it"}.`,
    how: (directive) => `Add to the policy: ${directive} ${MISSING_DIRECTIVES[directive]?.value ?? "'self'"}`,
  },
  script_unsafe_inline: {
    severity: "warning",
    message: (directive) => `${directive} contains 'unsafe-inline': injected scripts and event handlers run.`,
    how: (directive) =>
      `Remove 'unsafe-inline' from ${directive} and give each inline script a nonce: ${directive} 'nonce-RANDOM', with a new RANDOM in each response.`,
  },
  script_unsafe_hashes: {
    severity: "info",
    message: (directive) =>
      `${directive} contains 'unsafe-hashes': event handlers with a listed hash run, injected ones too.`,
    how: (directive) => `Register event handlers with addEventListener, then remove 'unsafe-hashes' from ${directive}.`,
  },
  script_unsafe_eval: {
    severity: "warning",
    message: (directive) => `${directive} contains 'unsafe-eval': text passed to eval() or new Function() runs.`,
    how: (directive) => `Replace eval() in your scripts, then remove 'unsafe-eval' from ${directive}.`,
  },
  plain_url_schemes: {
    severity: "warning",
    message: (directive, value) => `${directive} contains ${value}, which allows every host.`,
    how: (directive, value) => `Replace ${value} in ${directive} with the hosts that the page needs.`,
  },
  plain_wildcard: {
    severity: "warning",
    message: (directive, value) => `${directive} contains ${value}, which allows every host.`,
    how: (directive, value) => `Replace ${value} in ${directive} with the hosts that the page needs.`,
  },
  script_allowlist_bypass: {
    severity: "info",
    message: (directive, value) =>
      value === "'self'"
        ? `${directive} allows 'self': any script file, JSONP endpoint or upload on this host can run.`
        : `${directive} allows ${value}. No bypass is known for this host if it serves neither JSONP nor AngularJS.`,
    how: (_, value) =>
      value === "'self'"
        ? "Serve neither JSONP nor uploaded files from this host, or use nonces instead of 'self'."
        : NONCE_INSTEAD_OF_HOST,
  },
  object_allowlist_bypass: {
    severity: "info",
    message: (_, value) => `object-src allows ${value}; browsers no longer run plugins, so nothing needs it.`,
    how: () => "Set object-src 'none'.",
  },
  ip_source: {
    severity: "info",
    message: (directive, value) =>
      value.includes("127.0.0.1")
        ? `${directive} allows ${value}, the visitor's own machine.`
        : `${directive} contains ${value}; browsers ignore IP addresses as sources.`,
    how: REMOVE,
  },
  deprecated_directive: {
    severity: "info",
    message: (directive) => `${directive} is obsolete: ${DEPRECATED_DIRECTIVES[directive] ?? "no browser reads it"}.`,
    how: (directive) => `Remove ${directive} from the policy.`,
  },
  src_http: {
    severity: "warning",
    message: (directive, value) =>
      directive === "report-uri"
        ? `Reports go to ${value} without encryption.`
        : `${directive} allows ${value}, which is not encrypted: anyone on the network can change what loads.`,
    how: (directive, value) => `Write ${value.replace(/^http:/, "https:")} in ${directive}.`,
  },
  style_unsafe_inline: {
    severity: "info",
    message: (directive) => `${directive} contains 'unsafe-inline': injected styles can change the page and leak data.`,
    how: (directive) => `Give each style element a nonce and remove 'unsafe-inline' from ${directive}.`,
  },
  strict_dynamic: {
    severity: "info",
    message: (directive) => `${directive} allows scripts by host; such lists can often be bypassed.`,
    how: (directive) => `Use ${directive} 'nonce-RANDOM' 'strict-dynamic', with a new RANDOM in each response.`,
  },
  strict_dynamic_not_standalone: {
    severity: "warning",
    message: (directive) =>
      `${directive} contains 'strict-dynamic' without a nonce or hash: browsers block every script.`,
    how: (directive) => `Add 'nonce-RANDOM' to ${directive} and to each script element, or remove 'strict-dynamic'.`,
  },
  unsafe_inline_fallback: {
    severity: "info",
    message: (directive) => `Browsers that do not know nonces block the inline scripts that ${directive} allows.`,
    how: (directive) => `Add 'unsafe-inline' to ${directive}; browsers that know nonces ignore it.`,
  },
  allowlist_fallback: {
    severity: "info",
    message: (directive) => `Browsers that do not know 'strict-dynamic' block the scripts that ${directive} allows.`,
    how: (directive) => `Add https: to ${directive}; browsers that know 'strict-dynamic' ignore it.`,
  },
  ignored: {
    severity: "info",
    message: (directive, value) =>
      `Browsers ignore ${value} in ${directive} because of a nonce, a hash or 'strict-dynamic'.`,
    how: null,
  },
  require_trusted_types_for_scripts: {
    severity: "info",
    message: () => "The policy does not require Trusted Types, which prevent DOM-based script injection.",
    how: () => "Add to the policy: require-trusted-types-for 'script'",
  },
  reporting_destination_missing: {
    severity: "info",
    message: () => "The policy has no report-uri and no report-to: violations are not reported.",
    how: () => "Add to the policy: report-uri https://HOST/PATH with the address of your collector.",
  },
  report_to_only: {
    severity: "info",
    message: () => "The policy has report-to but no report-uri; browsers without the Reporting API send no reports.",
    how: () => "Add report-uri with the address of the same collector.",
  },
  truncated: {
    severity: "info",
    message: () => "The policy text is longer than this check reads; the rest was not examined.",
    how: () => "Shorten the policy.",
  },
};
