import { adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";
import type { Finding, Severity } from "#shared/contracts/findings.ts";
import type { CorsFinding, CorsFindingId } from "#probe-agent/analysis/web/cors/findings.ts";

/**
 * Severity and advice for one id. With credentials a foreign site acts as the visitor; without them it reads only what
 * it can fetch itself.
 */
interface Advice {
  readonly severity: Severity;
  readonly withCredentials?: Severity;
  readonly how: string | null;
  readonly reference: string;
}

const FETCH = "https://fetch.spec.whatwg.org/#http-cors-protocol";
const GUIDE = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS";
const EXACT =
  "Allow only origins that equal an entry of a list of full origins. Send no Access-Control-Allow-Origin to others.";
const ONE_ORIGIN =
  "Send one Access-Control-Allow-Origin line with exactly the request's Origin or with *. Do not send a list.";

/** Advice by the id of the finding. */
export const CORS_ADVICE: Readonly<Record<CorsFindingId, Advice>> = {
  "reflects-any-origin": { severity: "info", withCredentials: "critical", how: EXACT, reference: GUIDE },
  "null-allowed": {
    severity: "info",
    withCredentials: "critical",
    how: "Remove null from the allowed origins.",
    reference: GUIDE,
  },
  "prefix-match": { severity: "info", withCredentials: "critical", how: EXACT, reference: GUIDE },
  "suffix-match": { severity: "info", withCredentials: "critical", how: EXACT, reference: GUIDE },
  "unescaped-dot": { severity: "info", withCredentials: "critical", how: EXACT, reference: GUIDE },
  "any-subdomain-allowed": {
    severity: "info",
    withCredentials: "warning",
    how: "List the subdomains that need access. Allow only origins that equal an entry of the list.",
    reference: GUIDE,
  },
  "http-origin-allowed": {
    severity: "info",
    withCredentials: "warning",
    how: "Remove the http:// origin from the allowed origins.",
    reference: GUIDE,
  },
  wildcard: { severity: "info", how: null, reference: GUIDE },
  "wildcard-with-credentials": {
    severity: "warning",
    how: "Send the request's Origin instead of * to listed origins, or remove Access-Control-Allow-Credentials.",
    reference: FETCH,
  },
  "missing-vary": { severity: "warning", how: "Send the header Vary: Origin in every response.", reference: FETCH },
  "multiple-allow-origin": { severity: "warning", how: ONE_ORIGIN, reference: FETCH },
  "allow-origin-list": { severity: "warning", how: ONE_ORIGIN, reference: FETCH },
  "allow-origin-not-exact": { severity: "warning", how: ONE_ORIGIN, reference: FETCH },
  "allow-credentials-invalid": {
    severity: "warning",
    how: "Send Access-Control-Allow-Credentials: true, or remove the header.",
    reference: FETCH,
  },
  "preflight-redirect": {
    severity: "info",
    how: "Respond to OPTIONS at this URL with 204 and the Access-Control-Allow headers, without a redirect.",
    reference: FETCH,
  },
  "preflight-status": {
    severity: "warning",
    how: "Respond to OPTIONS with 204, also without authentication: browsers send preflights without cookies.",
    reference: FETCH,
  },
};

/** Completes the findings of an analysis; `where` is the origin that revealed the problem. */
export function describeCorsFindings(found: readonly CorsFinding[]): Finding[] {
  const drafts = found.map(({ id, credentials, origin, message }) =>
    finding(id, origin, message, credentials ? CORS_ADVICE[id].withCredentials : undefined),
  );
  return adviseOn(CORS_ADVICE, drafts, null);
}
