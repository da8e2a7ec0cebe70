import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { parseSetCookie, type Cookie } from "#probe-agent/analysis/web/cookies.ts";
import { cookieIssues, gradeCookies, type CookieGrade, type CookieIssue } from "#probe-agent/tools/cookie/grade.ts";
import { cookiePurpose } from "#probe-agent/tools/cookie/purpose.ts";
import type { RejectedReason } from "#probe-agent/analysis/web/cookie-rejection.ts";
import { knownCookie, type CookiePurpose } from "#probe-agent/tools/cookie/vendors.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A response of the redirect chain to the page, the page included. */
interface CookieHop {
  readonly url: string;
  readonly headers: readonly HeaderPair[];
}

/** A cookie with its properties and weaknesses. */
export interface SeenCookie {
  readonly cookie: Cookie;
  readonly hopUrl: string;
  /** Whether the cookie's domain is of the same site as the page. */
  readonly firstParty: boolean;
  readonly purpose: CookiePurpose;
  readonly vendor: string | null;
  /** Prefix of the name; null if there is none. */
  readonly prefix: "__Host-" | "__Secure-" | null;
  /** Whether the attributes satisfy the prefix; true without one. */
  readonly prefixValid: boolean;
  /** Whether the line removes the cookie: it expires in the past. */
  readonly deletes: boolean;
  readonly issues: readonly CookieIssue[];
}

/** All cookies of a chain, and their grade. */
interface CookieReport extends CookieGrade {
  readonly cookies: readonly SeenCookie[];
  /** Number of graded cookies: the last of each name, domain and path, unless dropped for a reason outside GRADED. */
  readonly graded: number;
}

/** Rejections that the grade evaluates. Cookies rejected for other reasons are not graded. */
const GRADED: ReadonlySet<RejectedReason> = new Set<RejectedReason>([
  "samesite_none_without_secure",
  "insecure_origin",
  "partitioned_without_secure",
  "secure_prefix",
  "host_prefix",
  "nameless_prefix",
  "too_large",
]);

/** Replacement of the HTTP client for control characters. */
const CONTROL = "\uFFFD";

/** Input of the analysis of cookies. */
interface CookieInput {
  readonly hops: readonly CookieHop[];
  readonly pageUrl: string;
  readonly now: Date;
}

/** Analyses every Set-Cookie line of a chain; takes one plain value. */
function readCookies({ hops, pageUrl, now }: CookieInput): CookieReport {
  return reportCookies(hops, pageUrl, now);
}

/** Cookies that responses set. */
export const cookiesAnalysis = defineAnalysis("cookies", readCookies);

/** Analyses every Set-Cookie line of a chain of responses. The page's own response is the last. */
export function reportCookies(hops: readonly CookieHop[], pageUrl: string, now: Date): CookieReport {
  const pageHost = new URL(pageUrl).hostname;
  const cookies = hops.flatMap(({ url, headers }) => {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
    return headerValues(headers, "set-cookie").flatMap((line) => {
      const parsed = parseSetCookie(line, url, now);
      if (parsed === null) return [];
      const rejected = line.includes(CONTROL) ? "control_character" : parsed.rejected_reason;
      return [describeCookie({ ...parsed, rejected_reason: rejected }, url, host, pageHost, now)];
    });
  });
  const jar = new Map<string, SeenCookie>();
  for (const seen of cookies) {
    const { name, domain, path, rejected_reason: rejected } = seen.cookie;
    if (rejected === null || GRADED.has(rejected)) jar.set(JSON.stringify([name, domain, path]), seen);
  }
  const graded = [...jar.values()].filter((seen) => !seen.deletes);
  return { cookies, graded: graded.length, ...gradeCookies(graded.map((seen) => seen.issues)) };
}

function describeCookie(cookie: Cookie, hopUrl: string, host: string, pageHost: string, now: Date): SeenCookie {
  const prefix = prefixOf(cookie.name);
  return {
    cookie,
    hopUrl,
    firstParty: isSameSite(cookie.domain, pageHost),
    purpose: cookiePurpose(cookie.name),
    vendor: knownCookie(cookie.name)?.vendor ?? null,
    prefix,
    prefixValid: keepsPrefix(cookie, prefix),
    deletes: cookie.expires_at !== null && cookie.expires_at.getTime() <= now.getTime(),
    issues: cookieIssues(cookie, host, now),
  };
}

function prefixOf(name: string): SeenCookie["prefix"] {
  if (/^__host-/i.test(name)) return "__Host-";
  return /^__secure-/i.test(name) ? "__Secure-" : null;
}

/** Reports whether the attributes satisfy the prefix (RFC 6265bis section 4.1.3); true without a prefix. */
function keepsPrefix({ secure, host_only, path, rejected_reason }: Cookie, prefix: SeenCookie["prefix"]): boolean {
  if (prefix === null) return true;
  const kept = secure && rejected_reason !== "insecure_origin" && rejected_reason !== "secure_prefix";
  if (prefix === "__Secure-") return kept;
  return kept && host_only && path === "/" && rejected_reason !== "host_prefix";
}
