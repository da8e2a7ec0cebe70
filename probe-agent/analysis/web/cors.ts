import { corsGrant, preflightGrant, readCorsHeaders, type CorsHeaders } from "#probe-agent/analysis/web/cors/check.ts";
import { PREFLIGHTED, type CorsExchange } from "#probe-agent/analysis/web/cors/exchange.ts";
import {
  corsFindings,
  type CorsFinding,
  type CorsRisk,
  type JudgedExchange,
} from "#probe-agent/analysis/web/cors/findings.ts";
import type { OriginKind } from "#probe-agent/analysis/web/cors/origins.ts";
import { joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** How one request ended for its origin. */
type CorsVerdict = "allowed_with_credentials" | "allowed" | "denied" | "redirected" | "rate_limited" | "failed";

/** One request of the list. */
interface CorsProbe {
  readonly kind: OriginKind;
  readonly origin: string;
  readonly method: "GET" | "OPTIONS";
  readonly preflight: boolean;
  /** HTTP status; null where nobody answered. */
  readonly code: number | null;
  readonly acao: string | null;
  readonly acac: string | null;
  readonly verdict: CorsVerdict;
}

/** What a target lets other origins do. */
export interface CorsReport {
  readonly risk: CorsRisk;
  readonly findings: readonly CorsFinding[];
  readonly probes: readonly CorsProbe[];
  /** Of the given origin; null where its request was not answered. */
  readonly simple: CorsHeaders | null;
  readonly preflight: CorsHeaders | null;
  readonly simpleAllowed: boolean | null;
  readonly credentialedAllowed: boolean | null;
  readonly preflightAllowed: boolean | null;
}

/** Characters of a header value shown. */
const MAX_SHOWN = 512;
const RISKS = ["none", "low", "high", "critical"] as const;

/** Judges the answers to requests with different origins, as the Fetch standard has browsers do. */
export function analyseCors(exchanges: readonly CorsExchange[], base: readonly HeaderPair[]): CorsReport {
  const judged = exchanges.map((exchange) => ({ exchange, found: judge(exchange) }));
  const answered = judged.flatMap(({ found }) => (found === null ? [] : [found]));
  const findings = corsFindings(answered, readCorsHeaders(base));
  const given = (preflight: boolean) => answered.find((one) => one.kind === "given" && one.preflight === preflight);
  const simple = given(false);
  const preflight = given(true);
  return {
    risk: riskOf(findings),
    findings,
    probes: judged.map(({ exchange, found }) => probeOf(exchange, found)),
    simple: simple?.headers ?? null,
    preflight: preflight?.headers ?? null,
    simpleAllowed: simple === undefined ? null : simple.grant !== "none",
    credentialedAllowed: simple === undefined ? null : simple.grant === "with_credentials",
    preflightAllowed: preflight === undefined ? null : preflight.grant !== "none",
  };
}

const TOO_MANY_REQUESTS = 429;

/** Null where nobody answered, or only to say that it is too much: that tells nothing about origins. */
function judge({ kind, origin, preflight, answer }: CorsExchange): JudgedExchange | null {
  if (!answer.answered || answer.status === TOO_MANY_REQUESTS) return null;
  const headers = readCorsHeaders(answer.headers);
  const { status } = answer;
  const grant = preflight ? preflightGrant(status, headers, { origin, ...PREFLIGHTED }) : corsGrant(headers, origin);
  const storable = !/(?:^|[\s,])(?:no-store|private)\b/i.test(joinedHeader(answer.headers, "cache-control") ?? "");
  return { kind, origin, preflight, status, headers, storable, grant };
}

function probeOf({ kind, origin, preflight, answer }: CorsExchange, found: JudgedExchange | null): CorsProbe {
  return {
    kind,
    origin,
    method: preflight ? "OPTIONS" : "GET",
    preflight,
    code: answer.answered ? answer.status : null,
    acao: shown(found?.headers.allowOrigin),
    acac: shown(found?.headers.allowCredentials),
    verdict: verdictOf(answer.answered, preflight, found),
  };
}

function verdictOf(answered: boolean, preflight: boolean, found: JudgedExchange | null): CorsVerdict {
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

function shown(value: string | null | undefined): string | null {
  return value?.slice(0, MAX_SHOWN).toWellFormed() ?? null;
}
