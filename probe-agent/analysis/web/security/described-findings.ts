import type { Finding, Severity } from "#shared/findings.ts";
import type { SecurityTest } from "#probe-agent/analysis/security-headers.ts";
import { GUIDE } from "#probe-agent/analysis/web/security/guides.ts";
import type { PreloadFault } from "#probe-agent/analysis/web/security/preload.ts";

/** Messages for failed tests, by MDN's name of the result. */
export const FAILED_TESTS: Readonly<Record<string, string>> = {
  "csp-implemented-with-insecure-scheme-in-passive-content-only":
    "The Content-Security-Policy lets images or media load over unencrypted HTTP.",
  "csp-implemented-with-unsafe-eval": "The Content-Security-Policy allows eval().",
  "csp-implemented-with-unsafe-inline":
    "The Content-Security-Policy allows inline scripts, or scripts of any host: injected scripts run.",
  "csp-implemented-with-insecure-scheme":
    "The Content-Security-Policy lets scripts or styles load over unencrypted HTTP.",
  "csp-header-invalid": "The Content-Security-Policy is invalid.",
  "csp-not-implemented": "The page sends no Content-Security-Policy: injected scripts run without restriction.",
  "csp-not-implemented-but-reporting-enabled": "The Content-Security-Policy is report-only: it blocks nothing.",
  "cookies-without-secure-flag-but-protected-by-hsts":
    "A cookie has no Secure. Only HSTS prevents browsers from sending it unencrypted.",
  "cookies-session-without-secure-flag-but-protected-by-hsts":
    "A session cookie has no Secure. Only HSTS prevents browsers from sending it unencrypted.",
  "cookies-without-secure-flag": "A cookie has no Secure: browsers also send it over unencrypted HTTP.",
  "cookies-samesite-flag-invalid": "A cookie has a SameSite value that browsers do not know.",
  "cookies-anticsrf-without-samesite-flag": "An anti-CSRF cookie has no SameSite.",
  "cookies-session-without-httponly-flag": "A session cookie has no HttpOnly: injected scripts can read it.",
  "cookies-session-without-secure-flag": "A session cookie has no Secure: browsers also send it over unencrypted HTTP.",
  "cross-origin-resource-sharing-implemented-with-universal-access":
    "Every site can read the responses with the visitor's cookies.",
  "redirection-off-host-from-http": "http:// redirects to another host before it redirects to HTTPS.",
  "redirection-not-to-https-on-initial-redirection": "The first redirect of http:// does not lead to HTTPS.",
  "redirection-not-to-https": "http:// redirects, but never to HTTPS.",
  "redirection-missing": "http:// does not redirect to HTTPS.",
  "redirection-invalid-cert":
    "A certificate of the page or of a redirect to it is not trusted. Browsers show an error page.",
  "referrer-policy-unsafe": "Referrer-Policy lets other sites see full URLs of this site.",
  "referrer-policy-header-invalid": "Referrer-Policy has no value that browsers know.",
  "hsts-implemented-max-age-less-than-six-months": "Strict-Transport-Security has a max-age of less than six months.",
  "hsts-not-implemented": "The page sends no Strict-Transport-Security: a first visit over http can be intercepted.",
  "hsts-header-invalid": "Strict-Transport-Security is invalid, so browsers ignore it.",
  "hsts-not-implemented-no-https": "The site is not served over HTTPS: anyone on the network can read and change it.",
  "hsts-invalid-cert": "The certificate is not trusted, so browsers ignore Strict-Transport-Security.",
  "sri-not-implemented-but-external-scripts-loaded-securely": "Scripts of other sites load without integrity.",
  "sri-implemented-but-external-scripts-not-loaded-securely": "Scripts of other sites load over unencrypted HTTP.",
  "sri-not-implemented-and-external-scripts-not-loaded-securely":
    "Scripts of other sites load over unencrypted HTTP, without integrity.",
  "html-not-parseable": "The HTML cannot be parsed.",
  "x-content-type-options-not-implemented":
    "The page sends no X-Content-Type-Options: browsers may guess content types.",
  "x-content-type-options-header-invalid": "X-Content-Type-Options has a value other than nosniff.",
  "x-frame-options-not-implemented":
    "Any site can frame the page: neither X-Frame-Options nor frame-ancestors is sent.",
  "x-frame-options-header-invalid": "X-Frame-Options has a value that browsers do not know.",
  "corp-header-invalid": "Cross-Origin-Resource-Policy has a value that browsers do not know.",
  "coep-header-invalid": "Cross-Origin-Embedder-Policy has a value that browsers do not know.",
  "coop-header-invalid": "Cross-Origin-Opener-Policy has a value that browsers do not know.",
};

/** Results that give access to an attacker or block visitors. */
const CRITICAL: ReadonlySet<string> = new Set([
  "cross-origin-resource-sharing-implemented-with-universal-access",
  "redirection-invalid-cert",
  "hsts-invalid-cert",
]);
/** Tests with this modifier or a lower one are warnings; the others are info. */
const WARNING_POINTS = -10;
const MAX_VALUE = 200;

/** Returns a finding for each failed test. `id` is MDN's name of the result, `where` is MDN's name of the test. */
export function describeFailedTests(tests: readonly SecurityTest[]): Finding[] {
  return tests
    .filter(({ pass, result }) => !pass && FAILED_TESTS[result] !== undefined)
    .map(({ name, result, score_modifier: points, value, recommendation }) => {
      const sent = value === null ? "" : ` Value: ${value.slice(0, MAX_VALUE)}.`;
      return {
        id: result,
        severity: severityOf(result, points),
        message: `${FAILED_TESTS[result]}${sent}`,
        how: recommendation,
        reference: GUIDE[name]?.link ?? null,
        where: name,
      };
    });
}

function severityOf(result: string, points: number): Severity {
  if (CRITICAL.has(result)) return "critical";
  return points <= WARNING_POINTS ? "warning" : "info";
}

const HEADER =
  "Send from https:// of the domain: Strict-Transport-Security: max-age=31536000; includeSubDomains; preload";
const REDIRECT = "Redirect http:// of the domain to https:// of the same host first.";

/** Advice to enter the preload list, by code of hstspreload.org; null if nothing can be changed. */
export const PRELOAD_ADVICE: Readonly<Record<string, string | null>> = {
  "domain.name.cannot_compute_etld1": null,
  "domain.tls.cannot_connect": "Serve the domain itself over https, with a certificate for its name.",
  "domain.tls.invalid_cert_chain": "Install a certificate that browsers trust for the domain itself.",
  "response.no_header": HEADER,
  "response.multiple_headers": "Send Strict-Transport-Security once.",
  "header.preloadable.max_age.below_1_year": HEADER,
  "header.preloadable.include_sub_domains.missing": HEADER,
  "header.preloadable.preload.missing": HEADER,
  "redirects.http.no_redirect": REDIRECT,
  "redirects.http.www_first": REDIRECT,
  "redirects.http.first_redirect.insecure": REDIRECT,
};

/** Returns findings about faults for the preload list. They are warnings if the site requests to be listed (`asks`). */
export function describePreloadFaults(
  faults: readonly PreloadFault[],
  asks: boolean,
  domain: string | null,
): Finding[] {
  return faults.map(({ code, message }) => ({
    id: `preload-${code.replaceAll(/[._]/g, "-")}`,
    severity: asks ? "warning" : "info",
    message: `The domain cannot enter the HSTS preload list: ${message}.`,
    how: PRELOAD_ADVICE[code] ?? null,
    reference: "https://hstspreload.org/",
    where: domain,
  }));
}
