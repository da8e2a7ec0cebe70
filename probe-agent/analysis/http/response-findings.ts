import type { Finding, Severity } from "#shared/findings.ts";

const RFC9110 = "https://www.rfc-editor.org/rfc/rfc9110";
const RFC9112 = "https://www.rfc-editor.org/rfc/rfc9112";

/** Syntax errors that the HTTP client tolerates, by its name for each. */
export const SYNTAX_FAULTS: Readonly<
  Record<string, { readonly message: string; readonly how: string; readonly reference: string }>
> = {
  bare_line_feed: {
    message: "Header lines end in a line feed without a carriage return.",
    how: "End each header line with CR LF.",
    reference: `${RFC9112}#section-2.2`,
  },
  obsolete_line_folding: {
    message: "A header value continues on a second line, which is obsolete syntax.",
    how: "Send the value on one line.",
    reference: `${RFC9112}#section-5.2`,
  },
  malformed_header_line: {
    message: "A header line has no name followed by a colon. Clients skip the line or reject the response.",
    how: "Remove the line, or write it as Name: value.",
    reference: `${RFC9112}#section-5`,
  },
  space_before_colon: {
    message: "A header name is followed by a space before the colon. Proxies handle such lines differently.",
    how: "Remove the space before the colon.",
    reference: `${RFC9112}#section-5.1`,
  },
  invalid_header_name: {
    message: "A header name contains characters that are not allowed in header names.",
    how: "Use only letters, digits and hyphens in header names.",
    reference: `${RFC9110}#section-5.1`,
  },
  status_code_out_of_range: {
    message: "The status code is outside the range 100 to 599. Clients treat it as 500 or reject the response.",
    how: "Send a registered status code.",
    reference: `${RFC9110}#section-15`,
  },
};

/** Statuses that may concern only this probe: sign-in required, client not accepted, rate limit. */
const MAY_BE_OURS: ReadonlySet<number> = new Set([401, 403, 407, 429]);

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
  const finding = (id: string, severity: Severity, message: string, how: string, section: string | null): Finding => {
    return { id, severity, message, how, reference: section, where: null };
  };
  const severity = MAY_BE_OURS.has(code) ? "warning" : "critical";
  const isRedirect = [301, 302, 303, 307, 308].includes(code);
  return [
    ...(tls !== null && !tls.authorized
      ? [
          finding(
            "bad-certificate",
            "critical",
            `The certificate is not trusted (${tls.error ?? "unknown"}). Browsers show an error page.`,
            "Install a certificate that browsers trust for this host. The tool ssl reports what is wrong with the current one.",
            null,
          ),
        ]
      : []),
    ...(code >= 500 && code <= 599
      ? [
          finding(
            "server-error",
            "critical",
            `The server responds with status ${code}, an internal error.`,
            "Read the server's log for the time of the check.",
            `${RFC9110}#section-15.6`,
          ),
        ]
      : []),
    ...(code >= 400 && code <= 499
      ? [
          finding(
            "client-error",
            severity,
            `The server refuses the request with status ${code}.`,
            MAY_BE_OURS.has(code)
              ? "If the page is public, check sign-in, firewall and rate limits. The server may refuse only this probe."
              : "Restore the page, or redirect its URL with 301 to the page that replaces it.",
            `${RFC9110}#section-15.5`,
          ),
        ]
      : []),
    ...(isRedirect && location === null
      ? [
          finding(
            "bad-location",
            "critical",
            `The status ${code} is a redirect, but the response has no Location that clients can follow.`,
            "Send Location with an absolute http or https URL, percent-encoded.",
            `${RFC9110}#section-10.2.2`,
          ),
        ]
      : []),
    ...faults.map((fault): Finding => {
      const known = SYNTAX_FAULTS[fault];
      const id = fault.replaceAll("_", "-");
      if (known === undefined) return finding(id, "warning", "The response violates the syntax of HTTP.", RESEND, null);
      return finding(id, "warning", known.message, known.how, known.reference);
    }),
  ];
}

const RESEND = "Correct the software that writes the response header.";
