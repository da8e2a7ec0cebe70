import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import { KEYWORDS } from "#probe-agent/analysis/web/csp/vocabulary.ts";

/** What a finding is about. The value is empty if it is about the whole directive. */
interface CspPlace {
  readonly directive: string;
  readonly value: string;
}

/** URL of MDN's reference of the header. Most directives have a page of their own below it. */
export const HEADER = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Content-Security-Policy";
/** Values to set in place of missing directives. */
const MISSING_VALUES: Readonly<Record<string, string>> = { "object-src": "'none'", "base-uri": "'none'" };
const RANDOM_NONCE = "Encode at least 16 random bytes in base64 for each response.";

/** Severity and advice for each kind of finding. A policy only limits what an injection can do, so none is critical. */
export const CSP_ADVICE = {
  policy_missing: {
    severity: "warning",
    how: "Send the header Content-Security-Policy: default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
    reference: HEADER,
  },
  policy_not_enforced: {
    severity: "warning",
    how: "Send the same policy in the Content-Security-Policy header.",
    reference: HEADER,
  },
  missing_semicolon: {
    severity: "warning",
    how: ({ directive, value }) => `Put a semicolon before ${value} in ${directive}.`,
    reference: HEADER,
  },
  unknown_directive: {
    severity: "warning",
    how: ({ directive }) =>
      directive.endsWith(":")
        ? `Write ${directive.slice(0, -1)} without the colon.`
        : `Correct or remove ${directive}.`,
    reference: HEADER,
  },
  invalid_keyword: {
    severity: "warning",
    how: ({ directive, value }) =>
      value.startsWith("'")
        ? `Correct or remove ${value} in ${directive}. Keywords are e.g. ${[...KEYWORDS].slice(0, 3).join(", ")}.`
        : `Write '${value}' in ${directive}.`,
    reference: HEADER,
  },
  duplicate_directive: {
    severity: "warning",
    how: ({ directive }) => `Merge the values into one ${directive}.`,
    reference: HEADER,
  },
  ignored_in_meta: {
    severity: "warning",
    how: ({ directive }) => `Send ${directive} in the Content-Security-Policy header.`,
    reference: HEADER,
  },
  meta_after_script: {
    severity: "warning",
    how: "Send the policy in the Content-Security-Policy header, or move the meta element before all scripts.",
    reference: HEADER,
  },
  meta_outside_head: {
    severity: "warning",
    how: "Send the policy in the Content-Security-Policy header, or move the meta element into the head.",
    reference: HEADER,
  },
  report_only_in_meta: {
    severity: "warning",
    how: "Send the policy in the Content-Security-Policy-Report-Only header.",
    reference: HEADER,
  },
  undefined_reporting_group: {
    severity: "warning",
    how: ({ value }) =>
      `Send the header Reporting-Endpoints: ${value}="https://HOST/PATH" with the address of your collector.`,
    reference: HEADER,
  },
  nonce_charset: { severity: "info", how: RANDOM_NONCE, reference: HEADER },
  nonce_length: { severity: "warning", how: RANDOM_NONCE, reference: HEADER },
  missing_directives: {
    severity: "warning",
    how: ({ directive }) => `Add to the policy: ${directive} ${MISSING_VALUES[directive] ?? "'self'"}`,
    reference: HEADER,
  },
  script_unsafe_inline: {
    severity: "warning",
    how: ({ directive }) =>
      `Remove 'unsafe-inline' from ${directive} and give each inline script a nonce: ${directive} 'nonce-RANDOM', with a new RANDOM in each response.`,
    reference: HEADER,
  },
  script_unsafe_hashes: {
    severity: "info",
    how: ({ directive }) =>
      `Register event handlers with addEventListener, then remove 'unsafe-hashes' from ${directive}.`,
    reference: HEADER,
  },
  script_unsafe_eval: {
    severity: "warning",
    how: ({ directive }) => `Replace eval() in your scripts, then remove 'unsafe-eval' from ${directive}.`,
    reference: HEADER,
  },
  plain_url_schemes: {
    severity: "warning",
    how: ({ directive, value }) => `Replace ${value} in ${directive} with the hosts that the page needs.`,
    reference: HEADER,
  },
  plain_wildcard: {
    severity: "warning",
    how: ({ directive, value }) => `Replace ${value} in ${directive} with the hosts that the page needs.`,
    reference: HEADER,
  },
  script_allowlist_bypass: {
    severity: "info",
    how: ({ value }) =>
      value === "'self'"
        ? "Serve neither JSONP nor uploaded files from this host, or use nonces instead of 'self'."
        : "Replace the host with a nonce: script-src 'nonce-RANDOM' 'strict-dynamic', with a new RANDOM in each response.",
    reference: HEADER,
  },
  object_allowlist_bypass: { severity: "info", how: "Set object-src 'none'.", reference: HEADER },
  ip_source: {
    severity: "info",
    how: ({ directive, value }) => `Remove ${value} from ${directive}.`,
    reference: HEADER,
  },
  deprecated_directive: {
    severity: "info",
    how: ({ directive }) => `Remove ${directive} from the policy.`,
    reference: HEADER,
  },
  src_http: {
    severity: "warning",
    how: ({ directive, value }) => `Write ${value.replace(/^http:/, "https:")} in ${directive}.`,
    reference: HEADER,
  },
  style_unsafe_inline: {
    severity: "info",
    how: ({ directive }) => `Give each style element a nonce and remove 'unsafe-inline' from ${directive}.`,
    reference: HEADER,
  },
  strict_dynamic: {
    severity: "info",
    how: ({ directive }) => `Use ${directive} 'nonce-RANDOM' 'strict-dynamic', with a new RANDOM in each response.`,
    reference: HEADER,
  },
  strict_dynamic_not_standalone: {
    severity: "warning",
    how: ({ directive }) =>
      `Add 'nonce-RANDOM' to ${directive} and to each script element, or remove 'strict-dynamic'.`,
    reference: HEADER,
  },
  unsafe_inline_fallback: {
    severity: "info",
    how: ({ directive }) => `Add 'unsafe-inline' to ${directive}; browsers that know nonces ignore it.`,
    reference: HEADER,
  },
  allowlist_fallback: {
    severity: "info",
    how: ({ directive }) => `Add https: to ${directive}; browsers that know 'strict-dynamic' ignore it.`,
    reference: HEADER,
  },
  ignored: { severity: "info", how: null, reference: HEADER },
  require_trusted_types_for_scripts: {
    severity: "info",
    how: "Add to the policy: require-trusted-types-for 'script'",
    reference: HEADER,
  },
  reporting_destination_missing: {
    severity: "info",
    how: "Add to the policy: report-uri https://HOST/PATH with the address of your collector.",
    reference: HEADER,
  },
  report_to_only: {
    severity: "info",
    how: "Add report-uri with the address of the same collector.",
    reference: HEADER,
  },
  truncated: { severity: "info", how: "Shorten the policy.", reference: HEADER },
} as const satisfies AdviceTable<string, CspPlace>;
