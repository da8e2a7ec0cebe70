import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { isRedirectStatus, mayConcernOnlyProbe } from "#probe-agent/analysis/http/status.ts";
import type { Finding } from "#shared/contracts/findings.ts";

const RFC9110 = "https://www.rfc-editor.org/rfc/rfc9110";
const RFC9112 = "https://www.rfc-editor.org/rfc/rfc9112";
const READ_LOGS = "Look for this request in the logs of the server and of the proxies in front of it.";
const LOCATION = "Send Location with an absolute http or https URL, percent-encoded.";

/** Severity and advice for each kind of finding, and for each syntax error by the HTTP client's name for it. */
export const RESPONSE_ADVICE = {
  "bad-certificate": {
    severity: "critical",
    how: "Install a certificate that browsers trust for this host. The tool ssl reports what is wrong with the current one.",
    reference: null,
  },
  "server-error": {
    severity: "critical",
    how: "Read the server's log for the time of the check.",
    reference: `${RFC9110}#section-15.6`,
  },
  "client-error": {
    severity: "critical",
    how: "Restore the page, or redirect its URL with 301 to the page that replaces it.",
    reference: `${RFC9110}#section-15.5`,
  },
  "bad-location": { severity: "critical", how: LOCATION, reference: `${RFC9110}#section-10.2.2` },
  "bad-retry-after": {
    severity: "info",
    how: "Send Retry-After as a whole number of seconds, e.g. Retry-After: 120.",
    reference: `${RFC9110}#section-10.2.3`,
  },
  "body-unreadable": { severity: "warning", how: READ_LOGS, reference: `${RFC9112}#section-8` },
  "body-cut-short": { severity: "warning", how: READ_LOGS, reference: `${RFC9112}#section-8` },
  bare_line_feed: { severity: "warning", how: "End each header line with CR LF.", reference: `${RFC9112}#section-2.2` },
  obsolete_line_folding: {
    severity: "warning",
    how: "Send the value on one line.",
    reference: `${RFC9112}#section-5.2`,
  },
  malformed_header_line: {
    severity: "warning",
    how: "Remove the line, or write it as Name: value.",
    reference: `${RFC9112}#section-5`,
  },
  space_before_colon: {
    severity: "warning",
    how: "Remove the space before the colon.",
    reference: `${RFC9112}#section-5.1`,
  },
  invalid_header_name: {
    severity: "warning",
    how: "Use only letters, digits and hyphens in header names.",
    reference: `${RFC9110}#section-5.1`,
  },
  status_code_out_of_range: {
    severity: "warning",
    how: "Send a registered status code.",
    reference: `${RFC9110}#section-15`,
  },
} as const satisfies AdviceTable<string>;
/** For syntax errors without an entry of their own. */
const OTHER_FAULT = {
  severity: "warning",
  how: "Correct the software that writes the response header.",
  reference: null,
} as const;

/** Messages of the syntax errors that the HTTP client tolerates, by its name for each. */
export const SYNTAX_FAULTS: Readonly<Record<string, string>> = {
  bare_line_feed: "Header lines end in a line feed without a carriage return.",
  obsolete_line_folding: "A header value continues on a second line, which is obsolete syntax.",
  malformed_header_line: "A header line has no name followed by a colon. Clients skip the line or reject the response.",
  space_before_colon: "A header name is followed by a space before the colon. Proxies handle such lines differently.",
  invalid_header_name: "A header name contains characters that are not allowed in header names.",
  status_code_out_of_range:
    "The status code is outside the range 100 to 599. Clients treat it as 500 or reject the response.",
};

/** Properties of one response that its findings use. */
export interface ResponseFacts {
  readonly code: number;
  readonly location: string | null;
  readonly faults: readonly string[];
  /** null for http. */
  readonly tls: { readonly authorized: boolean; readonly error: string | null } | null;
}

/** Returns the findings about one response: its status, its certificate and the syntax of its header. */
export function responseFindings({ code, location, faults, tls }: ResponseFacts): Finding[] {
  const found: FindingDraft[] = [];
  if (tls !== null && !tls.authorized) {
    const message = `The certificate is not trusted (${tls.error ?? "unknown"}). Browsers show an error page.`;
    found.push(finding("bad-certificate", null, message));
  }
  if (code >= 500 && code <= 599)
    found.push(finding("server-error", null, `The server responds with status ${code}, an internal error.`));
  if (code >= 400 && code <= 499) {
    const refused = finding("client-error", null, `The server refuses the request with status ${code}.`);
    const how =
      "If the page is public, check sign-in, firewall and rate limits. The server may refuse only this probe.";
    found.push(mayConcernOnlyProbe(code) ? { ...refused, severity: "warning", how } : refused);
  }
  if (isRedirectStatus(code) && location === null) {
    const message = `The status ${code} is a redirect, but the response has no Location that clients can follow.`;
    found.push(finding("bad-location", null, message));
  }
  for (const fault of faults)
    found.push(finding(fault, null, SYNTAX_FAULTS[fault] ?? "The response violates the syntax of HTTP."));
  const others = Object.fromEntries(faults.map((fault) => [fault, OTHER_FAULT]));
  return adviseOn<string, null>({ ...others, ...RESPONSE_ADVICE }, found, null);
}
