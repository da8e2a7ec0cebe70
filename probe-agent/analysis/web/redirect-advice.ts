import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";

/** Kinds of findings about a chain of redirects. */
export type RedirectFindingId =
  | "loop"
  | "too-many-redirects"
  | "dead-end"
  | "refresh-failed"
  | "refresh-refused"
  | "multiple-choices"
  | "unexpected-304"
  | "obsolete-status"
  | "missing-location"
  | "several-locations"
  | "bad-location"
  | "other-scheme"
  | "long-location"
  | "unencoded-location"
  | "scheme-relative-location"
  | "noscript-refresh"
  | "refresh-target"
  | "reloads-itself"
  | "slow-refresh"
  | "refresh"
  | "downgrade"
  | "temporary-upgrade"
  | "long-chain"
  | "ends-at-http"
  | "ends-in-error"
  | "bad-certificate";

const RFC9110 = "https://www.rfc-editor.org/rfc/rfc9110";

/** Severity, advice and source of the rule, by kind of finding. */
export const REDIRECT_ADVICE: AdviceTable<RedirectFindingId> = {
  loop: {
    severity: "critical",
    how: "Remove the rule that redirects back. The page must respond with 200.",
    reference: `${RFC9110}#section-15.4`,
  },
  "too-many-redirects": {
    severity: "critical",
    how: "Redirect the first URL directly to the last one.",
    reference: `${RFC9110}#section-15.4`,
  },
  "dead-end": {
    severity: "critical",
    how: "Correct the Location, or start the server that it leads to.",
    reference: `${RFC9110}#section-10.2.2`,
  },
  "refresh-failed": {
    severity: "critical",
    how: "Correct the target of the refresh, or start the server that it leads to.",
    reference: null,
  },
  "refresh-refused": { severity: "critical", how: "Point the refresh at a public address.", reference: null },
  "multiple-choices": {
    severity: "info",
    how: "Respond with 200, or redirect with 301 or 308 and a Location.",
    reference: `${RFC9110}#section-15.4.1`,
  },
  "unexpected-304": {
    severity: "warning",
    how: "Respond with 304 only to requests with If-None-Match or If-Modified-Since.",
    reference: `${RFC9110}#section-15.4.5`,
  },
  "obsolete-status": {
    severity: "critical",
    how: "Use 301, 302, 303, 307 or 308 with a Location.",
    reference: `${RFC9110}#section-15.4`,
  },
  "missing-location": {
    severity: "critical",
    how: "Send a Location with the absolute URL, or a status that is not a redirect.",
    reference: `${RFC9110}#section-10.2.2`,
  },
  "several-locations": { severity: "critical", how: "Send one Location line.", reference: `${RFC9110}#section-10.2.2` },
  "bad-location": {
    severity: "critical",
    how: "Send an absolute http or https URL, percent-encoded, in Location.",
    reference: `${RFC9110}#section-10.2.2`,
  },
  "other-scheme": {
    severity: "critical",
    how: "Send an http or https URL in Location.",
    reference: `${RFC9110}#section-10.2.2`,
  },
  "long-location": {
    severity: "warning",
    how: "Keep Location below 2048 characters, e.g. store the parameters on the server.",
    reference: `${RFC9110}#section-10.2.2`,
  },
  "unencoded-location": {
    severity: "warning",
    how: "Percent-encode spaces and characters that are not ASCII in Location.",
    reference: `${RFC9110}#section-10.2.2`,
  },
  "scheme-relative-location": {
    severity: "info",
    how: "Write Location with https:// in front.",
    reference: `${RFC9110}#section-10.2.2`,
  },
  "noscript-refresh": { severity: "info", how: null, reference: null },
  "refresh-target": {
    severity: "critical",
    how: "Give the refresh an http or https URL as its target.",
    reference: null,
  },
  "reloads-itself": { severity: "info", how: null, reference: null },
  "slow-refresh": {
    severity: "info",
    how: "To redirect visitors immediately, respond with 301 or 308 and a Location.",
    reference: `${RFC9110}#section-15.4`,
  },
  refresh: {
    severity: "warning",
    how: "Respond with 301 or 308 and a Location instead of the refresh.",
    reference: `${RFC9110}#section-15.4`,
  },
  downgrade: { severity: "warning", how: "Redirect to the https:// form of the URL.", reference: null },
  "temporary-upgrade": {
    severity: "info",
    how: "Use 301 or 308 for the redirect to https.",
    reference: `${RFC9110}#section-15.4.9`,
  },
  "long-chain": {
    severity: "warning",
    how: "Redirect the first URL directly to the last one.",
    reference: `${RFC9110}#section-15.4`,
  },
  "ends-at-http": {
    severity: "warning",
    how: "Serve the page over https and redirect http to it with 301 or 308.",
    reference: null,
  },
  "ends-in-error": {
    severity: "critical",
    how: "Redirect to a page that exists, or restore the final page.",
    reference: `${RFC9110}#section-15.5`,
  },
  "bad-certificate": {
    severity: "critical",
    how: "Install a certificate that browsers trust for this host. The tool ssl reports what is wrong with the current one.",
    reference: null,
  },
};
