import { readCookieLine, type SameSite } from "#probe-agent/analysis/web/cookies/attributes.ts";
import { scopeCookie, type RejectedReason } from "#probe-agent/analysis/web/cookies/rejection.ts";

/** A cookie as a browser would read it from one Set-Cookie line, with everything it says, kept or not. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Lower case without leading dot; the request's host where `host_only`. */
  readonly domain: string;
  readonly host_only: boolean;
  /** The default path where none was given. */
  readonly path: string;
  /** The Expires attribute as sent, past dates too; null where absent or unreadable. */
  readonly expires: Date | null;
  /** The Max-Age attribute as sent, seconds; wins over `expires`. */
  readonly max_age_s: number | null;
  readonly secure: boolean;
  readonly http_only: boolean;
  readonly same_site: SameSite | null;
  /** SameSite was sent with a value browsers do not know. */
  readonly same_site_invalid: boolean;
  readonly partitioned: boolean;
  readonly priority: string | null;
  /** Neither Max-Age nor Expires: gone when the browser closes. */
  readonly session: boolean;
  /** When a browser drops it: Max-Age or Expires, at most 400 days from now; null for session cookies. */
  readonly expires_at: Date | null;
  /** Octets of name and value. */
  readonly size_bytes: number;
  /** Null where a browser keeps it. */
  readonly rejected_reason: RejectedReason | null;
}

const DAY_MS = 86_400_000;
/** Browsers shorten longer lives to this (RFC 6265bis section 5.5). */
export const MAX_LIFETIME_DAYS = 400;

/**
 * Reads one Set-Cookie line of a response of `requestUrl` (an absolute http(s) URL) by RFC 6265bis. Null where there
 * is no cookie in it: neither name nor value. A cookie a browser would drop comes with its `rejected_reason`.
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
