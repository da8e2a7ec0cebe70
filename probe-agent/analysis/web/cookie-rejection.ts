import { isPublicSuffix } from "#shared/internet/registrable-domain.ts";
import type { CookieLine } from "#probe-agent/analysis/web/cookie-attributes.ts";
import { isIP } from "node:net";

/** Why a browser drops a cookie (RFC 6265bis section 5.7 and, for Partitioned, the CHIPS draft). */
export type RejectedReason =
  | "control_character"
  | "too_large"
  | "domain_not_ascii"
  | "public_suffix"
  | "domain_mismatch"
  | "insecure_origin"
  | "samesite_none_without_secure"
  | "partitioned_without_secure"
  | "secure_prefix"
  | "host_prefix"
  | "nameless_prefix";

/** Maximum length of name and value together, in octets. Browsers ignore longer cookies. */
export const MAX_COOKIE_OCTETS = 4096;

/** Scope in which a browser stores a cookie, and the first rule, in the draft's order, that rejects it. */
interface CookieScope {
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly rejected: RejectedReason | null;
}

/** Applies the storage model to a parsed line. `url` is the URL of the response. */
export function scopeCookie(cookie: CookieLine, line: string, url: URL): CookieScope {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const asked = cookie.domain;
  // If the host itself is a public suffix, the attribute counts as absent.
  const suffix = asked !== null && isPublicSuffix(asked);
  const hostOnly = asked === null || (suffix && asked === host);
  const path = cookie.path ?? defaultPath(url.pathname);
  const scope = { domain: hostOnly ? host : asked, hostOnly, path };
  return { ...scope, rejected: rejection(cookie, line, url, host, scope, suffix) };
}

function rejection(
  cookie: CookieLine,
  line: string,
  url: URL,
  host: string,
  scope: Omit<CookieScope, "rejected">,
  suffix: boolean,
): RejectedReason | null {
  if (hasControlCharacter(line)) return "control_character";
  if (Buffer.byteLength(cookie.name) + Buffer.byteLength(cookie.value) > MAX_COOKIE_OCTETS) return "too_large";
  // oxlint-disable-next-line no-control-regex -- the whole ASCII range is meant
  if (/[^\u0000-\u007F]/.test(cookie.domain ?? "")) return "domain_not_ascii";
  if (suffix && !scope.hostOnly) return "public_suffix";
  if (!scope.hostOnly && !domainMatches(host, scope.domain)) return "domain_mismatch";
  if (cookie.secure && url.protocol !== "https:") return "insecure_origin";
  if (cookie.sameSite === "none" && !cookie.secure) return "samesite_none_without_secure";
  if (cookie.partitioned && !cookie.secure) return "partitioned_without_secure";
  const prefixed = cookie.name.toLowerCase();
  if (prefixed.startsWith("__secure-") && !cookie.secure) return "secure_prefix";
  const hostRule = cookie.secure && scope.hostOnly && cookie.hasPath && scope.path === "/";
  if (prefixed.startsWith("__host-") && !hostRule) return "host_prefix";
  if (cookie.name === "" && /^__(?:secure|host)-/i.test(cookie.value)) return "nameless_prefix";
  return null;
}

/** Reports whether a line contains a control character other than tab (section 5.6, step 1). */
function hasControlCharacter(line: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
  return /[\u0000-\u0008\u000A-\u001F\u007F]/.test(line);
}

/** Reports whether a host matches a domain (RFC 6265 section 5.1.3): equal, or a name that ends in ".DOMAIN". */
export function domainMatches(host: string, domain: string): boolean {
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

/** Returns the default path (RFC 6265 section 5.1.4): the path up to, but without, its last "/". */
function defaultPath(pathname: string): string {
  const last = pathname.lastIndexOf("/");
  return pathname.startsWith("/") && last > 0 ? pathname.slice(0, last) : "/";
}
