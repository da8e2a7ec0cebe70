import { headerValues, joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** How far an origin gets with one response. */
export type CorsGrant = "none" | "without_credentials" | "with_credentials";

/** What a response says about CORS. */
export interface CorsHeaders {
  /** Access-Control-Allow-Origin, several lines joined as browsers do; null where absent. */
  readonly allowOrigin: string | null;
  readonly allowOriginLines: number;
  /** Access-Control-Allow-Credentials as sent; only "true" counts. */
  readonly allowCredentials: string | null;
  /** Null where the header is absent. */
  readonly allowMethods: readonly string[] | null;
  readonly allowHeaders: readonly string[] | null;
  readonly exposeHeaders: readonly string[] | null;
  /** Seconds; null where absent or no number. */
  readonly maxAgeSeconds: number | null;
  /** Vary names Origin or everything. */
  readonly variesByOrigin: boolean;
}

/** Names kept of one list. */
const MAX_NAMES = 200;

/** Reads the CORS fields of a response. */
export function readCorsHeaders(headers: readonly HeaderPair[]): CorsHeaders {
  const maxAge = joinedHeader(headers, "access-control-max-age")?.trim() ?? "";
  const vary = names(headers, "vary") ?? [];
  return {
    allowOrigin: joinedHeader(headers, "access-control-allow-origin"),
    allowOriginLines: headerValues(headers, "access-control-allow-origin").length,
    allowCredentials: joinedHeader(headers, "access-control-allow-credentials"),
    allowMethods: names(headers, "access-control-allow-methods"),
    allowHeaders: names(headers, "access-control-allow-headers"),
    exposeHeaders: names(headers, "access-control-expose-headers"),
    maxAgeSeconds: /^-?\d{1,15}$/.test(maxAge) ? Number(maxAge) : null,
    variesByOrigin: vary.some((name) => name === "*" || name.toLowerCase() === "origin"),
  };
}

function names(headers: readonly HeaderPair[], name: string): string[] | null {
  const value = joinedHeader(headers, name);
  if (value === null) return null;
  const parts = value.slice(0, 65_536).split(",");
  return parts
    .map((part) => part.trim().slice(0, 200).toWellFormed())
    .filter((part) => part !== "")
    .slice(0, MAX_NAMES);
}

/** The CORS check of the Fetch standard (section 4.10), for both ways to ask: "*" never goes with credentials. */
export function corsGrant({ allowOrigin, allowCredentials }: CorsHeaders, origin: string): CorsGrant {
  if (allowOrigin === "*") return "without_credentials";
  if (allowOrigin !== origin) return "none";
  return allowCredentials === "true" ? "with_credentials" : "without_credentials";
}

/** Methods that never need naming (CORS-safelisted, Fetch section 2.2.1). */
const SAFELISTED = new Set(["GET", "HEAD", "POST"]);

/**
 * Whether a preflight's answer lets a request through (Fetch section 4.8): a status of 200 to 299, the CORS check, then
 * method and header names; "*" stands for all of them where no credentials are sent.
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
