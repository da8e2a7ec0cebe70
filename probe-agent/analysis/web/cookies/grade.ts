import { MAX_LIFETIME_DAYS, type Cookie } from "#probe-agent/analysis/cookies.ts";
import { cookiePurpose } from "#probe-agent/analysis/web/cookies/purpose.ts";
import { MAX_COOKIE_OCTETS } from "#probe-agent/analysis/web/cookies/rejection.ts";
import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";

/** A weakness of one cookie; `penalty` is taken from 100. */
export interface CookieIssue {
  readonly id: string;
  readonly penalty: number;
  readonly message: string;
}

/** Score of a set of cookies: 100 = nothing to say, also with none. */
export interface CookieGrade {
  readonly score: number;
  readonly grade: LetterGrade;
}

const PREFIX_REASONS = new Set(["secure_prefix", "host_prefix", "nameless_prefix"]);

/** What is weak about a cookie. `host` is that of the response, `now` the observation's time. */
export function cookieIssues(cookie: Cookie, host: string, now: Date): CookieIssue[] {
  const purpose = cookiePurpose(cookie.name);
  const session = purpose === "session";
  const sensitive = session || purpose === "csrf";
  const issues: CookieIssue[] = [];
  const add = (id: string, penalty: number, message: string): void => void issues.push({ id, penalty, message });
  if (!cookie.secure && sensitive) add("sensitive_without_secure", 40, "A session or CSRF cookie without Secure");
  if (!cookie.secure && !sensitive) add("without_secure", 20, "Sent over unencrypted HTTP too: set Secure");
  if (session && !cookie.http_only)
    add("session_without_httponly", 30, "Scripts can read a session cookie: set HttpOnly");
  if (cookie.same_site_invalid) add("samesite_invalid", 20, "SameSite has a value browsers do not know");
  else if (cookie.same_site === "none" && !cookie.secure) {
    add("samesite_none_without_secure", 20, "SameSite=None without Secure is dropped by browsers");
  } else if (cookie.same_site === null && purpose === "csrf") {
    add("csrf_without_samesite", 20, "A CSRF token without SameSite");
  } else if (cookie.same_site === null) add("samesite_absent", 5, "No SameSite: the browser's default applies");
  if (PREFIX_REASONS.has(cookie.rejected_reason ?? "")) {
    add("prefix_violated", 20, "The name's prefix promises what the attributes do not keep");
  }
  if (session && !cookie.host_only && cookie.domain !== host) {
    add("session_for_parent_domain", 5, "A session cookie that every host under its domain receives");
  }
  if (lifetimeDays(cookie, now) > MAX_LIFETIME_DAYS) add("lifetime_too_long", 5, "Asks for more than 400 days");
  if (cookie.size_bytes > MAX_COOKIE_OCTETS) add("too_large", 10, "Name and value exceed 4096 bytes");
  return issues;
}

/** Worst cookie 60 %, mean 40 %. */
export function gradeCookies(issuesPerCookie: readonly (readonly CookieIssue[])[]): CookieGrade {
  if (issuesPerCookie.length === 0) return { score: 100, grade: "A+" };
  const scores = issuesPerCookie.map((issues) =>
    Math.max(
      0,
      issues.reduce((left, one) => left - one.penalty, 100),
    ),
  );
  const mean = scores.reduce((sum, one) => sum + one, 0) / scores.length;
  const worst = scores.reduce((low, one) => Math.min(low, one), 100);
  const score = Math.round(worst * 0.6 + mean * 0.4);
  return { score, grade: letterGrade(score) };
}

function lifetimeDays(cookie: Cookie, now: Date): number {
  if (cookie.max_age_s !== null) return cookie.max_age_s / 86_400;
  return cookie.expires === null ? 0 : (cookie.expires.getTime() - now.getTime()) / 86_400_000;
}
