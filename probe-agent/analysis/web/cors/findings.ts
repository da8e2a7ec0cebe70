import { withoutTrailing } from "#shared/trailing.ts";
import type { CorsGrant, CorsHeaders } from "#probe-agent/analysis/web/cors/check.ts";
import type { OriginKind } from "#probe-agent/analysis/web/cors/origins.ts";

/** How bad; info is worth knowing and opens nothing. */
export type CorsSeverity = "info" | "low" | "high" | "critical";

/** Something to say about how a target answers origins. */
export interface CorsFinding {
  readonly id: string;
  readonly severity: CorsSeverity;
  /** The origin that showed it; null where none in particular. */
  readonly origin: string | null;
  readonly message: string;
}

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
    Record<
      OriginKind,
      { readonly id: string; readonly risk: CorsSeverity; readonly open: CorsSeverity; readonly what: string }
    >
  >
> = {
  foreign: {
    id: "reflects_any_origin",
    risk: "critical",
    open: "low",
    what: "Whatever origin asks is sent back as allowed",
  },
  null: {
    id: "null_allowed",
    risk: "critical",
    open: "low",
    what: "The origin null is allowed, which any site gets from a sandboxed frame",
  },
  prefix: {
    id: "prefix_match",
    risk: "high",
    open: "low",
    what: "An origin is allowed that only begins with the host's name",
  },
  suffix: {
    id: "suffix_match",
    risk: "high",
    open: "low",
    what: "An origin is allowed that only ends in the host's name",
  },
  unescaped_dot: {
    id: "unescaped_dot",
    risk: "high",
    open: "low",
    what: "An origin is allowed that has another character for a dot",
  },
  subdomain: {
    id: "any_subdomain_allowed",
    risk: "low",
    open: "info",
    what: "A subdomain that was made up is allowed: each one there is must be safe",
  },
  http_downgrade: {
    id: "http_origin_allowed",
    risk: "high",
    open: "low",
    what: "The host's http:// origin is allowed: whoever sits on the way speaks for it",
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
    const reach = credentials ? ", with the visitor's credentials" : ", without credentials";
    return [{ id, severity: credentials ? risk : open, origin: first.origin, message: `${what}${reach}` }];
  });
}

function wildcardFinding({ headers }: JudgedExchange): CorsFinding[] {
  if (headers.allowOrigin !== "*") return [];
  if (headers.allowCredentials !== "true") {
    const message = "Every site may read this without credentials: fine for what is public";
    return [{ id: "wildcard", severity: "info", origin: null, message }];
  }
  const message = "* beside Access-Control-Allow-Credentials is void: browsers refuse requests with credentials";
  return [{ id: "wildcard_with_credentials", severity: "low", origin: null, message }];
}

/** A shared cache would hand the answer made for one origin to another (Fetch section 3.3.6). */
function varyFinding(exchanges: readonly JudgedExchange[], base: CorsHeaders): CorsFinding[] {
  const gets = exchanges.filter((one) => !one.preflight);
  const values = new Set([base.allowOrigin, ...gets.map((one) => one.headers.allowOrigin)]);
  if (values.size < 2) return [];
  const missing = gets.find((one) => one.storable && !one.headers.variesByOrigin);
  if (missing === undefined) return [];
  const message = "The answer depends on Origin but Vary does not say so: caches mix up answers";
  return [{ id: "missing_vary", severity: "low", origin: missing.origin, message }];
}

function malformedFindings(exchanges: readonly JudgedExchange[]): CorsFinding[] {
  const first = (id: string, message: string, test: (one: JudgedExchange, value: string) => boolean): CorsFinding[] => {
    const found = exchanges.find((one) => one.headers.allowOrigin !== null && test(one, one.headers.allowOrigin));
    return found === undefined ? [] : [{ id, severity: "info", origin: found.origin, message }];
  };
  return [
    ...first(
      "multiple_allow_origin",
      "Several Access-Control-Allow-Origin lines: browsers refuse them",
      (one) => one.headers.allowOriginLines > 1,
    ),
    ...first(
      "allow_origin_list",
      "Access-Control-Allow-Origin takes one origin, no list: browsers refuse it",
      (one, value) => one.headers.allowOriginLines === 1 && /[,\s]/.test(value.trim()),
    ),
    ...first(
      "allow_origin_not_exact",
      "The origin sent back differs in case, slash or port from the one that asked: browsers refuse it",
      (one, value) => value !== one.origin && loose(value) === loose(one.origin),
    ),
    ...first(
      "allow_credentials_invalid",
      "Access-Control-Allow-Credentials counts only as true, in lower case",
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
  const finding = (id: string, message: string): CorsFinding[] => [{ id, severity: "info", origin, message }];
  if (status >= 300 && status < 400)
    return finding("preflight_redirect", "Browsers do not follow redirects of a preflight");
  const meant = headers.allowOrigin !== null;
  if (status > 299 && meant)
    return finding("preflight_status", `A preflight answered with ${status} is refused whatever it allows`);
  return [];
}
