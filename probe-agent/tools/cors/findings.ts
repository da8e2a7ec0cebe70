import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import type { CorsGrant, CorsHeaders } from "#probe-agent/tools/cors/check.ts";
import type { OriginKind } from "#probe-agent/tools/cors/origins.ts";

/** Access that a finding gives to foreign sites, from none to critical: any site acts as the visitor. */
export type CorsRisk = "none" | "low" | "high" | "critical";

/** What a finding is about. */
export type CorsFindingId =
  | "reflects-any-origin"
  | "null-allowed"
  | "prefix-match"
  | "suffix-match"
  | "unescaped-dot"
  | "any-subdomain-allowed"
  | "http-origin-allowed"
  | "wildcard"
  | "wildcard-with-credentials"
  | "missing-vary"
  | "multiple-allow-origin"
  | "allow-origin-list"
  | "allow-origin-not-exact"
  | "allow-credentials-invalid"
  | "preflight-redirect"
  | "preflight-status";

/** A finding about how a target responds to origins. */
export interface CorsFinding {
  readonly id: CorsFindingId;
  readonly risk: CorsRisk;
  /** Whether the response also allows credentials. */
  readonly credentials: boolean;
  /** The origin that revealed it; null if it does not depend on the origin. */
  readonly origin: string | null;
  readonly message: string;
}

/** Maximum length of a header value in a message, in characters. */
const MAX_SHOWN = 200;

/** One answered request with the result of the CORS check. */
export interface AnsweredExchange {
  readonly kind: OriginKind;
  readonly origin: string;
  readonly preflight: boolean;
  readonly status: number;
  readonly headers: CorsHeaders;
  /** Whether shared caches are allowed to store the response. */
  readonly storable: boolean;
  readonly grant: CorsGrant;
}

/**
 * Origins that should not be allowed. `risk` applies if credentials are allowed: the owner of such an origin acts as
 * the visitor. `open` applies otherwise: the owner reads only what anyone can read.
 */
const OPENINGS: Readonly<
  Partial<
    Record<
      OriginKind,
      { readonly id: CorsFindingId; readonly risk: CorsRisk; readonly open: CorsRisk; readonly what: string }
    >
  >
> = {
  foreign: {
    id: "reflects-any-origin",
    risk: "critical",
    open: "low",
    what: "The server allows every origin",
  },
  null: {
    id: "null-allowed",
    risk: "critical",
    open: "low",
    what: "The server allows the origin null, which any site can send from a sandboxed frame",
  },
  prefix: {
    id: "prefix-match",
    risk: "high",
    open: "low",
    what: "The server allows an origin that starts with the host's name and has another domain",
  },
  suffix: {
    id: "suffix-match",
    risk: "high",
    open: "low",
    what: "The server allows an origin that ends in the site's name and has another domain",
  },
  unescaped_dot: {
    id: "unescaped-dot",
    risk: "high",
    open: "low",
    what: "The server allows an origin with another character instead of a dot of the host's name",
  },
  subdomain: {
    id: "any-subdomain-allowed",
    risk: "low",
    open: "none",
    what: "The server allows a subdomain that does not exist, so it allows every subdomain",
  },
  http_downgrade: {
    id: "http-origin-allowed",
    risk: "high",
    open: "low",
    what: "The server allows the host's http:// origin, whose pages anyone on the network can change",
  },
};

/** Returns the findings about all responses. `base` is the CORS fields of a response to a request without Origin. */
export function corsFindings(exchanges: readonly AnsweredExchange[], base: CorsHeaders): CorsFinding[] {
  return [
    ...openingFindings(exchanges),
    ...exchanges.slice(0, 1).flatMap(wildcardFinding),
    ...varyFinding(exchanges, base),
    ...malformedFindings(exchanges),
    ...preflightFindings(exchanges),
  ];
}

/** If every origin is allowed, look-alike origins are not reported as well. */
function openingFindings(exchanges: readonly AnsweredExchange[]): CorsFinding[] {
  const echoed = exchanges.filter(({ headers, origin }) => headers.allowOrigin === origin);
  const everybody = echoed.some(({ kind }) => kind === "foreign");
  return Object.entries(OPENINGS).flatMap(([kind, { id, risk, open, what }]) => {
    if (everybody && kind !== "foreign" && kind !== "null") return [];
    const found = echoed.filter((exchange) => exchange.kind === kind);
    const [first] = found;
    if (first === undefined) return [];
    const credentials = found.some(({ headers }) => headers.allowCredentials === "true");
    const reach = credentials ? "with the visitor's cookies" : "without cookies";
    const message = `${what}: ${first.origin} can read the response ${reach}.`;
    return [{ id, risk: credentials ? risk : open, credentials, origin: first.origin, message }];
  });
}

function wildcardFinding({ headers }: AnsweredExchange): CorsFinding[] {
  if (headers.allowOrigin !== "*") return [];
  const base = { credentials: false, origin: null };
  if (headers.allowCredentials !== "true") {
    const message = "Access-Control-Allow-Origin is *: every site can read the response, but without cookies.";
    return [{ ...base, id: "wildcard", risk: "none", message }];
  }
  const message =
    "The response combines Access-Control-Allow-Origin: * with Access-Control-Allow-Credentials: true. Browsers block it for requests with cookies.";
  return [{ ...base, id: "wildcard-with-credentials", risk: "low", message }];
}

/** Reports a missing Vary: a shared cache serves the response for one origin to another (Fetch section 3.3.6). */
function varyFinding(exchanges: readonly AnsweredExchange[], base: CorsHeaders): CorsFinding[] {
  const gets = exchanges.filter((one) => !one.preflight);
  const values = new Set([base.allowOrigin, ...gets.map((one) => one.headers.allowOrigin)]);
  if (values.size < 2) return [];
  const missing = gets.find((one) => one.storable && !one.headers.variesByOrigin);
  if (missing === undefined) return [];
  const message =
    "The response depends on Origin, but Vary does not list it: a cache can serve the response for one origin to another.";
  return [{ id: "missing-vary", risk: "low", credentials: false, origin: missing.origin, message }];
}

function malformedFindings(exchanges: readonly AnsweredExchange[]): CorsFinding[] {
  const first = (
    id: CorsFindingId,
    describe: (allowOrigin: string, one: AnsweredExchange) => string,
    test: (one: AnsweredExchange, value: string) => boolean,
  ): CorsFinding[] => {
    const found = exchanges.find((one) => one.headers.allowOrigin !== null && test(one, one.headers.allowOrigin));
    if (found === undefined) return [];
    const message = describe((found.headers.allowOrigin ?? "").slice(0, MAX_SHOWN), found);
    return [{ id, risk: "none", credentials: false, origin: found.origin, message }];
  };
  return [
    ...first(
      "multiple-allow-origin",
      (_, one) =>
        `The response has ${one.headers.allowOriginLines} Access-Control-Allow-Origin lines. Browsers block it.`,
      (one) => one.headers.allowOriginLines > 1,
    ),
    ...first(
      "allow-origin-list",
      (value) =>
        `Access-Control-Allow-Origin is a list (${value}). Browsers accept only one origin and block the response.`,
      (one, value) => one.headers.allowOriginLines === 1 && /[,\s]/.test(value.trim()),
    ),
    ...first(
      "allow-origin-not-exact",
      (value, one) =>
        `Access-Control-Allow-Origin is ${value} for the origin ${one.origin}. Browsers compare case, slash and port, and block the response.`,
      (one, value) => value !== one.origin && normalizeOrigin(value) === normalizeOrigin(one.origin),
    ),
    ...first(
      "allow-credentials-invalid",
      (_, one) =>
        `Access-Control-Allow-Credentials is ${(one.headers.allowCredentials ?? "").slice(0, MAX_SHOWN)}. Browsers accept only true, in lower case.`,
      (one) => one.headers.allowCredentials !== null && one.headers.allowCredentials !== "true",
    ),
  ];
}

function normalizeOrigin(origin: string): string {
  const bare = withoutTrailing(origin.trim().toLowerCase(), (character) => character === "/");
  return bare.replace(/^(https:\/\/.*):443$/, "$1").replace(/^(http:\/\/.*):80$/, "$1");
}

function preflightFindings(exchanges: readonly AnsweredExchange[]): CorsFinding[] {
  const preflight = exchanges.find((one) => one.preflight && one.kind === "given");
  if (preflight === undefined) return [];
  const { status, origin, headers } = preflight;
  const finding = (id: CorsFindingId, message: string): CorsFinding[] => [
    { id, risk: "none", credentials: false, origin, message },
  ];
  if (status >= 300 && status < 400) {
    return finding(
      "preflight-redirect",
      `The response to the preflight is a redirect (${status}). Browsers do not follow it.`,
    );
  }
  const meant = headers.allowOrigin !== null;
  if (status > 299 && meant) {
    return finding(
      "preflight-status",
      `The response to the preflight has status ${status}. Browsers block the request although the origin is allowed.`,
    );
  }
  return [];
}
