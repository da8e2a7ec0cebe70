import { parseSetCookie, type Cookie } from "#probe-agent/analysis/web/cookies.ts";
import { outcome, type TestOutcome } from "#probe-agent/analysis/web/security/outcome.ts";

/** Failing results, worst last. The worst one of all cookies is the result. */
const WORSENING = [
  "cookies-without-secure-flag-but-protected-by-hsts",
  "cookies-without-secure-flag",
  "cookies-session-without-secure-flag-but-protected-by-hsts",
  "cookies-samesite-flag-invalid",
  "cookies-anticsrf-without-samesite-flag",
  "cookies-session-without-httponly-flag",
  "cookies-session-without-secure-flag",
];

/** Cookies that a hosting platform sets regardless of the site. MDN ignores them. */
const PLATFORM_COOKIES = new Set(["heroku-session-affinity"]);
/** Rejections that the test itself evaluates. Cookies rejected for other reasons are ignored. */
const EVALUATED = new Set(["samesite_none_without_secure", "insecure_origin", "partitioned_without_secure"]);

/** Runs MDN's test cookies on the Set-Cookie lines of a response from `url`. `hsts`: whether the HSTS test passed. */
export function cookiesTest(lines: readonly string[], url: string, hsts: boolean, now: Date): TestOutcome {
  const cookies = storedCookies(lines, url, now);
  if (cookies.length === 0) return outcome("cookies-not-found", true, null);
  const value = cookies.map((cookie) => cookie.name).join(", ");
  const found = new Set(cookies.flatMap((cookie) => faults(cookie, hsts)));
  const worst = WORSENING.findLast((result) => found.has(result));
  if (worst !== undefined) return outcome(worst, false, value);
  return cookies.every((cookie) => cookie.same_site !== null)
    ? outcome("cookies-secure-with-httponly-sessions-and-samesite", true, value)
    : outcome("cookies-secure-with-httponly-sessions", true, value);
}

/** Returns the stored cookies. A later cookie with the same name, domain and path replaces an earlier one. */
function storedCookies(lines: readonly string[], url: string, now: Date): Cookie[] {
  const jar = new Map<string, Cookie>();
  for (const line of lines) {
    const cookie = parseSetCookie(line, url, now);
    if (cookie === null || cookie.name === "" || PLATFORM_COOKIES.has(cookie.name)) continue;
    if (cookie.rejected_reason !== null && !EVALUATED.has(cookie.rejected_reason)) continue;
    jar.set(JSON.stringify([cookie.name, cookie.domain, cookie.path]), cookie);
  }
  return [...jar.values()];
}

function faults(cookie: Cookie, hsts: boolean): string[] {
  const name = cookie.name.toLowerCase();
  const session = name.includes("login") || name.includes("sess");
  const found: string[] = [];
  if (cookie.same_site_invalid || (cookie.same_site === "none" && !cookie.secure)) {
    found.push("cookies-samesite-flag-invalid");
  }
  if (!cookie.secure) {
    found.push(hsts ? "cookies-without-secure-flag-but-protected-by-hsts" : "cookies-without-secure-flag");
    if (session && hsts) found.push("cookies-session-without-secure-flag-but-protected-by-hsts");
    if (session && !hsts) found.push("cookies-session-without-secure-flag");
  }
  if (name.includes("csrf") && cookie.same_site === null) found.push("cookies-anticsrf-without-samesite-flag");
  if (session && !cookie.http_only) found.push("cookies-session-without-httponly-flag");
  return found;
}
