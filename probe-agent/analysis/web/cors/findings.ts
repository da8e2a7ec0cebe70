import { withoutTrailing } from "#shared/strip-trailing.ts";
import type { CorsGrant, CorsHeaders } from "#probe-agent/analysis/web/cors/check.ts";
import type { OriginKind } from "#probe-agent/analysis/web/cors/origins.ts";

/** How far a finding lets strangers in: none opens nothing, critical lets any site act as the visitor. */
export type CorsRisk = "none" | "low" | "high" | "critical";

/** Something to say about how a target answers origins. */
export interface CorsFinding {
  /** Kebab-case; a key of CORS_ADVICE. */
  readonly id: string;
  readonly risk: CorsRisk;
  /** The answer allows credentials too. */
  readonly credentials: boolean;
  /** The origin that showed it; null where none in particular. */
  readonly origin: string | null;
  readonly message: string;
}

/** Characters of a header value shown in a message. */
const MAX_SHOWN = 200;

/** One answered request as the findings see it. */
export interface JudgedExchange {
  readonly kind: OriginKind;
  readonly origin: string;
  readonly preflight: boolean;
  readonly status: number;
  readonly headers: CorsHeaders;
  /** The answer may be kept by caches. */
  readonly storable: boolean;
  readonly grant: CorsGrant;
}

/** Origins that should not get in: with credentials whoever holds one acts as the visitor, else reads what anyone may. */
const OPENINGS: Readonly<
  Partial<
    Record<OriginKind, { readonly id: string; readonly risk: CorsRisk; readonly open: CorsRisk; readonly what: string }>
  >
> = {
  foreign: {
    id: "reflects-any-origin",
    risk: "critical",
    open: "low",
    what: "The server allows every origin that asks",
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
    what: "The server allows an origin that only begins with the host's name",
  },
  suffix: {
    id: "suffix-match",
    risk: "high",
    open: "low",
    what: "The server allows an origin that only ends in the host's name",
  },
  unescaped_dot: {
    id: "unescaped-dot",
    risk: "high",
    open: "low",
    what: "The server allows an origin with another character in place of a dot of the host's name",
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

/** What the answers show. `base` are the CORS fields of an answer to a request without Origin. */
export function corsFindings(exchanges: readonly JudgedExchange[], base: CorsHeaders): CorsFinding[] {
  return [
    ...openingFindings(exchanges),
    ...exchanges.slice(0, 1).flatMap(wildcardFinding),
    ...varyFinding(exchanges, base),
    ...malformedFindings(exchanges),
    ...preflightFindings(exchanges),
  ];
}

/** What lets a stranger in makes the finer tricks pointless to tell. */
function openingFindings(exchanges: readonly JudgedExchange[]): CorsFinding[] {
  const echoed = exchanges.filter(({ headers, origin }) => headers.allowOrigin === origin);
  const everybody = echoed.some(({ kind }) => kind === "foreign");
  return Object.entries(OPENINGS).flatMap(([kind, { id, risk, open, what }]) => {
    if (everybody && kind !== "foreign" && kind !== "null") return [];
    const found = echoed.filter((exchange) => exchange.kind === kind);
    const [first] = found;
    if (first === undefined) return [];
    const credentials = found.some(({ headers }) => headers.allowCredentials === "true");
    const reach = credentials ? "with the visitor's cookies" : "without cookies";
    const message = `${what}: ${first.origin} can read the answer ${reach}.`;
    return [{ id, risk: credentials ? risk : open, credentials, origin: first.origin, message }];
  });
}

function wildcardFinding({ headers }: JudgedExchange): CorsFinding[] {
  if (headers.allowOrigin !== "*") return [];
  const base = { credentials: false, origin: null };
  if (headers.allowCredentials !== "true") {
    const message = "Access-Control-Allow-Origin is *: every site can read the answer, without cookies.";
    return [{ ...base, id: "wildcard", risk: "none", message }];
  }
  const message =
    "The answer combines Access-Control-Allow-Origin: * with Access-Control-Allow-Credentials: true; browsers refuse it to requests with cookies.";
  return [{ ...base, id: "wildcard-with-credentials", risk: "low", message }];
}

/** A shared cache would hand the answer made for one origin to another (Fetch section 3.3.6). */
function varyFinding(exchanges: readonly JudgedExchange[], base: CorsHeaders): CorsFinding[] {
  const gets = exchanges.filter((one) => !one.preflight);
  const values = new Set([base.allowOrigin, ...gets.map((one) => one.headers.allowOrigin)]);
  if (values.size < 2) return [];
  const missing = gets.find((one) => one.storable && !one.headers.variesByOrigin);
  if (missing === undefined) return [];
  const message =
    "The answer depends on Origin, but Vary does not name it: a cache can serve the answer of one origin to another.";
  return [{ id: "missing-vary", risk: "low", credentials: false, origin: missing.origin, message }];
}

function malformedFindings(exchanges: readonly JudgedExchange[]): CorsFinding[] {
  const first = (
    id: string,
    describe: (allowOrigin: string, one: JudgedExchange) => string,
    test: (one: JudgedExchange, value: string) => boolean,
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
        `The answer has ${one.headers.allowOriginLines} Access-Control-Allow-Origin lines; browsers refuse it.`,
      (one) => one.headers.allowOriginLines > 1,
    ),
    ...first(
      "allow-origin-list",
      (value) => `Access-Control-Allow-Origin is a list (${value}); browsers accept one origin only and refuse it.`,
      (one, value) => one.headers.allowOriginLines === 1 && /[,\s]/.test(value.trim()),
    ),
    ...first(
      "allow-origin-not-exact",
      (value, one) =>
        `Access-Control-Allow-Origin is ${value} in answer to ${one.origin}; browsers compare case, slash and port, and refuse it.`,
      (one, value) => value !== one.origin && loose(value) === loose(one.origin),
    ),
    ...first(
      "allow-credentials-invalid",
      (_, one) =>
        `Access-Control-Allow-Credentials is ${(one.headers.allowCredentials ?? "").slice(0, MAX_SHOWN)}; browsers accept only true, in lower case.`,
      (one) => one.headers.allowCredentials !== null && one.headers.allowCredentials !== "true",
    ),
  ];
}

function loose(origin: string): string {
  const bare = withoutTrailing(origin.trim().toLowerCase(), (character) => character === "/");
  return bare.replace(/^(https:\/\/.*):443$/, "$1").replace(/^(http:\/\/.*):80$/, "$1");
}

function preflightFindings(exchanges: readonly JudgedExchange[]): CorsFinding[] {
  const preflight = exchanges.find((one) => one.preflight && one.kind === "given");
  if (preflight === undefined) return [];
  const { status, origin, headers } = preflight;
  const finding = (id: string, message: string): CorsFinding[] => [
    { id, risk: "none", credentials: false, origin, message },
  ];
  if (status >= 300 && status < 400) {
    return finding(
      "preflight-redirect",
      `The preflight is answered with a redirect (${status}); browsers do not follow it.`,
    );
  }
  const meant = headers.allowOrigin !== null;
  if (status > 299 && meant) {
    return finding(
      "preflight-status",
      `The preflight is answered with status ${status}; browsers refuse it although it allows the origin.`,
    );
  }
  return [];
}
