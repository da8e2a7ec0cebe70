import { headerValues, joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Access that one response grants to an origin. */
export type CorsGrant = "none" | "without_credentials" | "with_credentials";

/** CORS fields of a response. */
export interface CorsHeaders {
  /** Access-Control-Allow-Origin, its lines joined as browsers do; null if absent. */
  readonly allowOrigin: string | null;
  readonly allowOriginLines: number;
  /** Access-Control-Allow-Credentials as sent; only "true" counts. */
  readonly allowCredentials: string | null;
  /** Names of the list; null if the header is absent. The next two likewise. */
  readonly allowMethods: readonly string[] | null;
  readonly allowHeaders: readonly string[] | null;
  readonly exposeHeaders: readonly string[] | null;
  /** null if absent or not a number. */
  readonly maxAgeSeconds: number | null;
  /** Whether Vary lists Origin or is "*". */
  readonly variesByOrigin: boolean;
}

/** Maximum number of names kept of one list. */
const MAX_NAMES = 200;

/** Parses the CORS fields of a response. */
export function readCorsHeaders(headers: readonly HeaderPair[]): CorsHeaders {
  const maxAge = joinedHeader(headers, "access-control-max-age")?.trim() ?? "";
  const vary = readNames(headers, "vary") ?? [];
  return {
    allowOrigin: joinedHeader(headers, "access-control-allow-origin"),
    allowOriginLines: headerValues(headers, "access-control-allow-origin").length,
    allowCredentials: joinedHeader(headers, "access-control-allow-credentials"),
    allowMethods: readNames(headers, "access-control-allow-methods"),
    allowHeaders: readNames(headers, "access-control-allow-headers"),
    exposeHeaders: readNames(headers, "access-control-expose-headers"),
    maxAgeSeconds: /^-?\d{1,15}$/.test(maxAge) ? Number(maxAge) : null,
    variesByOrigin: vary.some((name) => name === "*" || name.toLowerCase() === "origin"),
  };
}

function readNames(headers: readonly HeaderPair[], name: string): string[] | null {
  const value = joinedHeader(headers, name);
  if (value === null) return null;
  const parts = value.slice(0, 65_536).split(",");
  return parts
    .map((part) => part.trim().slice(0, 200).toWellFormed())
    .filter((part) => part !== "")
    .slice(0, MAX_NAMES);
}

/** Applies the CORS check (Fetch section 4.10), without and with credentials. "*" never allows credentials. */
export function corsGrant({ allowOrigin, allowCredentials }: CorsHeaders, origin: string): CorsGrant {
  if (allowOrigin === "*") return "without_credentials";
  if (allowOrigin !== origin) return "none";
  return allowCredentials === "true" ? "with_credentials" : "without_credentials";
}

/** Methods that are allowed without being listed (CORS-safelisted, Fetch section 2.2.1). */
const SAFELISTED = new Set(["GET", "HEAD", "POST"]);

/**
 * Returns the access that the response to a preflight grants (Fetch section 4.8). It needs a status of 200 to 299, must
 * pass the CORS check, and must list the method and the header. "*" means all of them, but only without credentials.
 */
export function preflightGrant(
  status: number,
  headers: CorsHeaders,
  request: { readonly origin: string; readonly method: string; readonly header: string },
): CorsGrant {
  if (status < 200 || status > 299) return "none";
  const grant = corsGrant(headers, request.origin);
  if (grant === "none") return "none";
  const methods = new Set(headers.allowMethods);
  const fields = new Set(headers.allowHeaders?.map((name) => name.toLowerCase()));
  const method = SAFELISTED.has(request.method) || methods.has(request.method);
  if (method && fields.has(request.header)) return grant;
  const widely = (method || methods.has("*")) && (fields.has(request.header) || fields.has("*"));
  return widely ? "without_credentials" : "none";
}
