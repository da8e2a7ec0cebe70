import type { Finding, Severity } from "#shared/findings.ts";
import type { CookieIssueId } from "#probe-agent/analysis/web/cookies/grade.ts";
import type { RejectedReason } from "#probe-agent/analysis/web/cookies/rejection.ts";
import type { SeenCookie } from "#probe-agent/analysis/web/cookies/report.ts";

interface Description {
  readonly severity: Severity;
  /** Follows "The cookie NAME ". */
  readonly message: string;
  readonly how: string;
}

const SET_COOKIE = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie";
const MAX_NAME = 200;

/** Severity and texts by the id of the issue. */
const COOKIE_ISSUES: Readonly<Record<CookieIssueId, Description>> = {
  "sensitive-without-secure": {
    severity: "warning",
    message: "holds a session or CSRF token and has no Secure: browsers also send it over unencrypted HTTP.",
    how: "Add Secure to the Set-Cookie line.",
  },
  "without-secure": {
    severity: "info",
    message: "has no Secure: browsers also send it over unencrypted HTTP.",
    how: "Add Secure to the Set-Cookie line.",
  },
  "session-without-httponly": {
    severity: "warning",
    message: "holds a session and has no HttpOnly: an injected script can read it.",
    how: "Add HttpOnly to the Set-Cookie line.",
  },
  "samesite-invalid": {
    severity: "warning",
    message: "has a SameSite value that browsers do not know; they apply their default, mostly Lax.",
    how: "Write SameSite=Lax or SameSite=Strict, or SameSite=None; Secure.",
  },
  "samesite-none-without-secure": {
    severity: "warning",
    message: "has SameSite=None without Secure: browsers drop it.",
    how: "Write SameSite=None; Secure.",
  },
  "csrf-without-samesite": {
    severity: "warning",
    message: "holds a CSRF token and has no SameSite; whether other sites can send it depends on the browser.",
    how: "Add SameSite=Lax or SameSite=Strict to the Set-Cookie line.",
  },
  "samesite-absent": {
    severity: "info",
    message: "has no SameSite; the browser's default applies, mostly Lax.",
    how: "Add SameSite=Lax to the Set-Cookie line.",
  },
  "prefix-violated": {
    severity: "warning",
    message: "has a prefix that its attributes do not satisfy: browsers drop it.",
    how: "For __Host- set Secure and Path=/ without Domain. For __Secure- set Secure. Set both only over HTTPS.",
  },
  "session-for-parent-domain": {
    severity: "info",
    message: "holds a session and is sent to every host of its domain.",
    how: "Remove Domain from the Set-Cookie line if only one host needs the session.",
  },
  "lifetime-too-long": {
    severity: "info",
    message: "has a lifetime of more than 400 days; browsers shorten it to 400 days.",
    how: "Set Max-Age=34560000 (400 days) or less.",
  },
  "too-large": {
    severity: "warning",
    message: "has a name and value of more than 4096 bytes: browsers drop it.",
    how: "Store the data on the server and keep an identifier in the cookie.",
  },
};

/** Texts for a cookie that browsers drop; null if an issue of the grade already reports the reason. */
const REJECTIONS: Readonly<Record<RejectedReason, Omit<Description, "severity"> | null>> = {
  control_character: {
    message: "contains a control character: browsers drop it.",
    how: "Encode the value, e.g. in base64.",
  },
  domain_not_ascii: {
    message: "has a Domain with characters that are not ASCII: browsers drop it.",
    how: "Write Domain in its ASCII form (xn--), or omit it.",
  },
  public_suffix: {
    message: "has a Domain that is a public suffix, such as co.uk: browsers drop it.",
    how: "Set Domain to your own domain, or omit it.",
  },
  domain_mismatch: {
    message: "has a Domain that does not include the responding host: browsers drop it.",
    how: "Set Domain to the responding host or to a parent domain of it, or omit it.",
  },
  insecure_origin: {
    message: "has Secure and was set over unencrypted HTTP: browsers drop it.",
    how: "Redirect to HTTPS first, and set the cookie there.",
  },
  partitioned_without_secure: {
    message: "has Partitioned without Secure: browsers drop it.",
    how: "Write Partitioned; Secure.",
  },
  too_large: null,
  samesite_none_without_secure: null,
  secure_prefix: null,
  host_prefix: null,
  nameless_prefix: null,
};

/** Returns the findings about all cookies that their line does not delete; `where` is the cookie's name. */
export function describeCookieFindings(cookies: readonly SeenCookie[]): Finding[] {
  return cookies.filter(({ deletes }) => !deletes).flatMap(describeCookie);
}

function describeCookie({ cookie, issues }: SeenCookie): Finding[] {
  const where = cookie.name === "" ? null : cookie.name.slice(0, MAX_NAME);
  const subject = where === null ? "A cookie without a name" : `The cookie ${where}`;
  const finding = (id: string, severity: Severity, { message, how }: Omit<Description, "severity">): Finding => ({
    id,
    severity,
    message: `${subject} ${message}`,
    how,
    reference: SET_COOKIE,
    where,
  });
  const rejection = cookie.rejected_reason === null ? null : REJECTIONS[cookie.rejected_reason];
  return [
    ...(rejection === null ? [] : [finding("dropped-by-browsers", "warning", rejection)]),
    ...issues.map(({ id }) => finding(id, COOKIE_ISSUES[id].severity, COOKIE_ISSUES[id])),
  ];
}
