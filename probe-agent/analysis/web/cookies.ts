import { readCookieLine, type SameSite } from "#probe-agent/analysis/web/cookie-attributes.ts";
import { scopeCookie, type RejectedReason } from "#probe-agent/analysis/web/cookie-rejection.ts";

/** A cookie as a browser reads it from one Set-Cookie line, with all its attributes, also if the browser drops it. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** In lower case, without leading dot; the request's host if `host_only`. */
  readonly domain: string;
  /** Whether the cookie is not sent to subdomains. */
  readonly host_only: boolean;
  /** The default path if the line has none. */
  readonly path: string;
  /** The Expires attribute as sent, also if in the past; null if absent or not a date. */
  readonly expires: Date | null;
  /** The Max-Age attribute as sent, in seconds; null if absent. It takes precedence over `expires`. */
  readonly max_age_s: number | null;
  readonly secure: boolean;
  readonly http_only: boolean;
  readonly same_site: SameSite | null;
  /** Whether SameSite has a value that browsers do not know. */
  readonly same_site_invalid: boolean;
  readonly partitioned: boolean;
  readonly priority: string | null;
  /** Whether the line has neither Max-Age nor Expires: the cookie ends when the browser closes. */
  readonly session: boolean;
  /** When the cookie expires by Max-Age or Expires, at most 400 days from now; null for session cookies. */
  readonly expires_at: Date | null;
  /** Length of name and value in octets. */
  readonly size_bytes: number;
  /** Why browsers drop the cookie; null if they keep it. */
  readonly rejected_reason: RejectedReason | null;
}

const DAY_MS = 86_400_000;
/** Maximum lifetime in days. Browsers shorten longer lifetimes to it (RFC 6265bis section 5.5). */
export const MAX_LIFETIME_DAYS = 400;

/**
 * Parses one Set-Cookie line of a response from `requestUrl`, an absolute http(s) URL (RFC 6265bis). Returns null if it
 * has neither a name nor a value. A cookie that browsers drop is returned with its `rejected_reason`.
 */
export function parseSetCookie(line: string, requestUrl: string | URL, now: Date): Cookie | null {
  const read = readCookieLine(line);
  if (read.name === "" && read.value === "") return null;
  const url = new URL(requestUrl);
  const scope = scopeCookie(read, line, url);
  return {
    name: read.name,
    value: read.value,
    domain: scope.domain,
    host_only: scope.hostOnly,
    path: scope.path,
    expires: read.expires,
    max_age_s: read.maxAgeSeconds,
    secure: read.secure,
    http_only: read.httpOnly,
    same_site: read.sameSite,
    same_site_invalid: read.sameSiteInvalid,
    partitioned: read.partitioned,
    priority: read.priority,
    session: read.maxAgeSeconds === null && read.expires === null,
    expires_at: effectiveExpiry(read.maxAgeSeconds, read.expires, now),
    size_bytes: Buffer.byteLength(read.name) + Buffer.byteLength(read.value),
    rejected_reason: scope.rejected,
  };
}

function effectiveExpiry(maxAgeSeconds: number | null, expires: Date | null, now: Date): Date | null {
  const latest = now.getTime() + MAX_LIFETIME_DAYS * DAY_MS;
  if (maxAgeSeconds !== null) {
    return new Date(maxAgeSeconds <= 0 ? 0 : Math.min(latest, now.getTime() + maxAgeSeconds * 1000));
  }
  return expires === null ? null : new Date(Math.min(latest, expires.getTime()));
}
