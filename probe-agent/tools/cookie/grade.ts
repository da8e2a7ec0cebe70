import { MAX_LIFETIME_DAYS, type Cookie } from "#probe-agent/analysis/web/cookies.ts";
import { cookiePurpose } from "#probe-agent/tools/cookie/purpose.ts";
import { MAX_COOKIE_OCTETS } from "#probe-agent/analysis/web/cookie-rejection.ts";
import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";

/** Weaknesses that cost points. */
export type CookieIssueId =
  | "sensitive-without-secure"
  | "without-secure"
  | "session-without-httponly"
  | "samesite-invalid"
  | "samesite-none-without-secure"
  | "csrf-without-samesite"
  | "samesite-absent"
  | "prefix-violated"
  | "session-for-parent-domain"
  | "lifetime-too-long"
  | "too-large";

/** A weakness of one cookie. `penalty` is subtracted from 100. */
export interface CookieIssue {
  readonly id: CookieIssueId;
  readonly penalty: number;
}

/** Score of a set of cookies. It is 100 without a weakness, and also without a cookie. */
export interface CookieGrade {
  readonly score: number;
  readonly grade: LetterGrade;
}

const PREFIX_REASONS = new Set(["secure_prefix", "host_prefix", "nameless_prefix"]);

/** Returns the weaknesses of a cookie. `host` is the responding host, `now` is the time of the observation. */
export function cookieIssues(cookie: Cookie, host: string, now: Date): CookieIssue[] {
  const purpose = cookiePurpose(cookie.name);
  const session = purpose === "session";
  const sensitive = session || purpose === "csrf";
  const issues: CookieIssue[] = [];
  const add = (id: CookieIssueId, penalty: number): void => void issues.push({ id, penalty });
  if (!cookie.secure && sensitive) add("sensitive-without-secure", 40);
  if (!cookie.secure && !sensitive) add("without-secure", 20);
  if (session && !cookie.http_only) add("session-without-httponly", 30);
  if (cookie.same_site_invalid) add("samesite-invalid", 20);
  else if (cookie.same_site === "none" && !cookie.secure) {
    add("samesite-none-without-secure", 20);
  } else if (cookie.same_site === null && purpose === "csrf") {
    add("csrf-without-samesite", 20);
  } else if (cookie.same_site === null) add("samesite-absent", 5);
  if (PREFIX_REASONS.has(cookie.rejected_reason ?? "")) {
    add("prefix-violated", 20);
  }
  if (session && !cookie.host_only && cookie.domain !== host) {
    add("session-for-parent-domain", 5);
  }
  if (lifetimeDays(cookie, now) > MAX_LIFETIME_DAYS) add("lifetime-too-long", 5);
  if (cookie.size_bytes > MAX_COOKIE_OCTETS) add("too-large", 10);
  return issues;
}

/** Computes the score: 60 % for the worst cookie, 40 % for the mean. */
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
