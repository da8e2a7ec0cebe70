import type { Finding, Severity } from "#shared/findings.ts";

const RFC9110 = "https://www.rfc-editor.org/rfc/rfc9110";
const RFC9112 = "https://www.rfc-editor.org/rfc/rfc9112";

/** Breaches of HTTP's syntax that the client reads over, by the word of the HTTP engine. */
export const SYNTAX_FAULTS: Readonly<
  Record<string, { readonly message: string; readonly how: string; readonly reference: string }>
> = {
  bare_line_feed: {
    message: "Header lines end in a line feed without a carriage return.",
    how: "End each header line with CR LF.",
    reference: `${RFC9112}#section-2.2`,
  },
  obsolete_line_folding: {
    message: "A header value continues on a second line; that form is obsolete.",
    how: "Send the value on one line.",
    reference: `${RFC9112}#section-5.2`,
  },
  malformed_header_line: {
    message: "A line of the header has no field name and colon; clients skip it or refuse the response.",
    how: "Remove the line, or write it as Name: value.",
    reference: `${RFC9112}#section-5`,
  },
  space_before_colon: {
    message: "A header name is followed by a space before the colon; proxies disagree about such lines.",
    how: "Remove the space before the colon.",
    reference: `${RFC9112}#section-5.1`,
  },
  invalid_header_name: {
    message: "A header name has characters that are not allowed in one.",
    how: "Use letters, digits and - in header names.",
    reference: `${RFC9110}#section-5.1`,
  },
  status_code_out_of_range: {
    message: "The status code is outside of 100 to 599; clients treat it as 500 or refuse it.",
    how: "Send a registered status code.",
    reference: `${RFC9110}#section-15`,
  },
};

/** A refusal that may concern this probe alone: sign-in, a client that is not wanted, a limit of requests. */
const MAY_BE_OURS: ReadonlySet<number> = new Set([401, 403, 407, 429]);

/** What is judged of one response. */
export interface JudgedResponse {
  readonly code: number;
  readonly location: string | null;
  readonly faults: readonly string[];
  /** Null over http. */
  readonly tls: { readonly authorized: boolean; readonly error: string | null } | null;
}

/** Findings about one response: its status, its certificate, and the syntax of its head. */
export function responseFindings({ code, location, faults, tls }: JudgedResponse): Finding[] {
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
            `The certificate is not trusted (${tls.error ?? "unknown"}): browsers show an error page.`,
            "Install a certificate that browsers trust for this host; the tool ssl says what is wrong with it.",
            null,
          ),
        ]
      : []),
    ...(code >= 500 && code <= 599
      ? [
          finding(
            "server-error",
            "critical",
            `The server answers with status ${code}, an error of its own.`,
            "Look into the server's log at the time of the check.",
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
              ? "If visitors should see the page, check sign-in, firewall and rate limits; the refusal may concern this probe alone."
              : "Restore the page, or redirect its URL with 301 to the one that replaces it.",
            `${RFC9110}#section-15.5`,
          ),
        ]
      : []),
    ...(isRedirect && location === null
      ? [
          finding(
            "bad-location",
            "critical",
            `The status is ${code}, a redirect, without a Location that clients can follow.`,
            "Send Location with an absolute http or https URL, percent-encoded.",
            `${RFC9110}#section-10.2.2`,
          ),
        ]
      : []),
    ...faults.map((fault): Finding => {
      const known = SYNTAX_FAULTS[fault];
      const id = fault.replaceAll("_", "-");
      if (known === undefined) return finding(id, "warning", "The response breaks the syntax of HTTP.", RESEND, null);
      return finding(id, "warning", known.message, known.how, known.reference);
    }),
  ];
}

const RESEND = "Correct the software that writes the response's header.";
