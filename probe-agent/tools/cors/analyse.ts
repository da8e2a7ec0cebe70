import { corsGrant, preflightGrant, readCorsHeaders, type CorsHeaders } from "#probe-agent/tools/cors/check.ts";
import { PREFLIGHTED, type CorsExchange } from "#probe-agent/tools/cors/exchange.ts";
import {
  corsFindings,
  type CorsFinding,
  type CorsRisk,
  type AnsweredExchange,
  type CorsFindingId,
} from "#probe-agent/tools/cors/findings.ts";
import type { OriginKind } from "#probe-agent/tools/cors/origins.ts";
import { joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";
import type { Finding, Severity } from "#shared/contracts/findings.ts";

/** What a browser does with the response to one request. */
type CorsVerdict = "allowed_with_credentials" | "allowed" | "denied" | "redirected" | "rate_limited" | "failed";

/** One request and its outcome. */
interface CorsProbe {
  readonly kind: OriginKind;
  readonly origin: string;
  readonly method: "GET" | "OPTIONS";
  readonly preflight: boolean;
  /** HTTP status; null if there was no response. */
  readonly code: number | null;
  /** Access-Control-Allow-Origin; null if absent. */
  readonly acao: string | null;
  /** Access-Control-Allow-Credentials; null if absent. */
  readonly acac: string | null;
  readonly verdict: CorsVerdict;
}

/** Access of other origins to a target. */
export interface CorsReport {
  readonly risk: CorsRisk;
  readonly findings: readonly CorsFinding[];
  readonly probes: readonly CorsProbe[];
  /** CORS fields of the response to the given origin; null if there was none. The next four are null likewise. */
  readonly simple: CorsHeaders | null;
  readonly preflight: CorsHeaders | null;
  readonly simpleAllowed: boolean | null;
  readonly credentialedAllowed: boolean | null;
  readonly preflightAllowed: boolean | null;
}

/** Maximum length of a header value in the report, in characters. */
const MAX_SHOWN = 512;
const RISKS = ["none", "low", "high", "critical"] as const;

/** Evaluates the responses to requests with different origins, as browsers do by the Fetch standard. */
export function analyseCors(exchanges: readonly CorsExchange[], base: readonly HeaderPair[]): CorsReport {
  const evaluated = exchanges.map((exchange) => ({ exchange, found: evaluateExchange(exchange) }));
  const answered = evaluated.flatMap(({ found }) => (found === null ? [] : [found]));
  const findings = corsFindings(answered, readCorsHeaders(base));
  const given = (preflight: boolean) => answered.find((one) => one.kind === "given" && one.preflight === preflight);
  const simple = given(false);
  const preflight = given(true);
  return {
    risk: riskOf(findings),
    findings,
    probes: evaluated.map(({ exchange, found }) => describeProbe(exchange, found)),
    simple: simple?.headers ?? null,
    preflight: preflight?.headers ?? null,
    simpleAllowed: simple === undefined ? null : simple.grant !== "none",
    credentialedAllowed: simple === undefined ? null : simple.grant === "with_credentials",
    preflightAllowed: preflight === undefined ? null : preflight.grant !== "none",
  };
}

const TOO_MANY_REQUESTS = 429;

/** Applies the CORS check. Returns null without a response and for status 429, which say nothing about origins. */
function evaluateExchange({ kind, origin, preflight, answer }: CorsExchange): AnsweredExchange | null {
  if (!answer.answered || answer.status === TOO_MANY_REQUESTS) return null;
  const headers = readCorsHeaders(answer.headers);
  const { status } = answer;
  const grant = preflight ? preflightGrant(status, headers, { origin, ...PREFLIGHTED }) : corsGrant(headers, origin);
  const storable = !/(?:^|[\s,])(?:no-store|private)\b/i.test(joinedHeader(answer.headers, "cache-control") ?? "");
  return { kind, origin, preflight, status, headers, storable, grant };
}

function describeProbe({ kind, origin, preflight, answer }: CorsExchange, found: AnsweredExchange | null): CorsProbe {
  return {
    kind,
    origin,
    method: preflight ? "OPTIONS" : "GET",
    preflight,
    code: answer.answered ? answer.status : null,
    acao: truncate(found?.headers.allowOrigin),
    acac: truncate(found?.headers.allowCredentials),
    verdict: verdictOf(answer.answered, preflight, found),
  };
}

function verdictOf(answered: boolean, preflight: boolean, found: AnsweredExchange | null): CorsVerdict {
  if (!answered) return "failed";
  if (found === null) return "rate_limited";
  if (found.grant === "with_credentials") return "allowed_with_credentials";
  if (found.grant === "without_credentials") return "allowed";
  return preflight && found.status >= 300 && found.status < 400 ? "redirected" : "denied";
}

function riskOf(findings: readonly CorsFinding[]): CorsReport["risk"] {
  const risks = new Set(findings.map(({ risk }) => risk));
  return RISKS.findLast((risk) => risks.has(risk)) ?? "none";
}

function truncate(value: string | null | undefined): string | null {
  return value?.slice(0, MAX_SHOWN).toWellFormed() ?? null;
}

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
