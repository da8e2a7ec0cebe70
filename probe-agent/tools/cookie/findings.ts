import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { CookieIssueId } from "#probe-agent/tools/cookie/grade.ts";
import type { RejectedReason } from "#probe-agent/analysis/web/cookie-rejection.ts";
import type { SeenCookie } from "#probe-agent/tools/cookie/report.ts";

type CookieFindingId = CookieIssueId | "dropped-by-browsers";

const SET_COOKIE = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie";
const MAX_NAME = 200;

/** Severity and advice for each kind of finding. REJECTIONS has the advice for cookies that browsers drop. */
const COOKIE_ADVICE: AdviceTable<CookieFindingId> = {
  "dropped-by-browsers": { severity: "warning", how: null, reference: SET_COOKIE },
  "sensitive-without-secure": { severity: "warning", how: "Add Secure to the Set-Cookie line.", reference: SET_COOKIE },
  "without-secure": { severity: "info", how: "Add Secure to the Set-Cookie line.", reference: SET_COOKIE },
  "session-without-httponly": {
    severity: "warning",
    how: "Add HttpOnly to the Set-Cookie line.",
    reference: SET_COOKIE,
  },
  "samesite-invalid": {
    severity: "warning",
    how: "Write SameSite=Lax or SameSite=Strict, or SameSite=None; Secure.",
    reference: SET_COOKIE,
  },
  "samesite-none-without-secure": { severity: "warning", how: "Write SameSite=None; Secure.", reference: SET_COOKIE },
  "csrf-without-samesite": {
    severity: "warning",
    how: "Add SameSite=Lax or SameSite=Strict to the Set-Cookie line.",
    reference: SET_COOKIE,
  },
  "samesite-absent": { severity: "info", how: "Add SameSite=Lax to the Set-Cookie line.", reference: SET_COOKIE },
  "prefix-violated": {
    severity: "warning",
    how: "For __Host- set Secure and Path=/ without Domain. For __Secure- set Secure. Set both only over HTTPS.",
    reference: SET_COOKIE,
  },
  "session-for-parent-domain": {
    severity: "info",
    how: "Remove Domain from the Set-Cookie line if only one host needs the session.",
    reference: SET_COOKIE,
  },
  "lifetime-too-long": { severity: "info", how: "Set Max-Age=34560000 (400 days) or less.", reference: SET_COOKIE },
  "too-large": {
    severity: "warning",
    how: "Store the data on the server and keep an identifier in the cookie.",
    reference: SET_COOKIE,
  },
};

/** Message of each issue. It follows "The cookie NAME ". */
const COOKIE_MESSAGES: Readonly<Record<CookieIssueId, string>> = {
  "sensitive-without-secure":
    "holds a session or CSRF token and has no Secure: browsers also send it over unencrypted HTTP.",
  "without-secure": "has no Secure: browsers also send it over unencrypted HTTP.",
  "session-without-httponly": "holds a session and has no HttpOnly: an injected script can read it.",
  "samesite-invalid": "has a SameSite value that browsers do not know; they apply their default, mostly Lax.",
  "samesite-none-without-secure": "has SameSite=None without Secure: browsers drop it.",
  "csrf-without-samesite":
    "holds a CSRF token and has no SameSite; whether other sites can send it depends on the browser.",
  "samesite-absent": "has no SameSite; the browser's default applies, mostly Lax.",
  "prefix-violated": "has a prefix that its attributes do not satisfy: browsers drop it.",
  "session-for-parent-domain": "holds a session and is sent to every host of its domain.",
  "lifetime-too-long": "has a lifetime of more than 400 days; browsers shorten it to 400 days.",
  "too-large": "has a name and value of more than 4096 bytes: browsers drop it.",
};

/** Texts for a cookie that browsers drop; null if an issue of the grade already reports the reason. */
const REJECTIONS: Readonly<Record<RejectedReason, { readonly message: string; readonly how: string } | null>> = {
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
  const drafts = cookies.filter(({ deletes }) => !deletes).flatMap(describeCookie);
  return adviseOn(COOKIE_ADVICE, drafts, null);
}

function describeCookie({ cookie, issues }: SeenCookie): FindingDraft<CookieFindingId>[] {
  const where = cookie.name === "" ? null : cookie.name.slice(0, MAX_NAME);
  const subject = where === null ? "A cookie without a name" : `The cookie ${where}`;
  const rejection = cookie.rejected_reason === null ? null : REJECTIONS[cookie.rejected_reason];
  const found = issues.map(({ id }) => finding(id, where, `${subject} ${COOKIE_MESSAGES[id]}`));
  if (rejection === null) return found;
  const { message, how } = rejection;
  return [{ ...finding("dropped-by-browsers", where, `${subject} ${message}`), how }, ...found];
}
