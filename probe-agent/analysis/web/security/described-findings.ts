import { adviseOn, finding, type AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import type { Finding, Severity } from "#shared/contracts/findings.ts";
import type { SecurityTest } from "#probe-agent/analysis/web/security-headers.ts";
import type { PreloadFault } from "#probe-agent/analysis/web/security/preload.ts";
import { SCORES } from "#probe-agent/analysis/web/security/scores.ts";

const GUIDES = "https://developer.mozilla.org/en-US/docs/Web/Security/Practical_implementation_guides";
const HEADERS = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers";

/** Result that MDN HTTP Observatory expects of each test, and the URL of its guide. */
export const GUIDE: Readonly<Record<string, { readonly expectation: string; readonly link: string }>> = {
  "content-security-policy": { expectation: "csp-implemented-with-no-unsafe", link: `${GUIDES}/CSP` },
  cookies: { expectation: "cookies-secure-with-httponly-sessions", link: `${GUIDES}/Cookies` },
  "cross-origin-resource-sharing": {
    expectation: "cross-origin-resource-sharing-not-implemented",
    link: `${GUIDES}/CORS`,
  },
  redirection: { expectation: "redirection-to-https", link: `${GUIDES}/TLS#http_redirection` },
  "referrer-policy": { expectation: "referrer-policy-private", link: `${GUIDES}/Referrer_policy` },
  "strict-transport-security": {
    expectation: "hsts-implemented-max-age-at-least-six-months",
    link: `${GUIDES}/TLS#http_strict_transport_security`,
  },
  "subresource-integrity": {
    expectation: "sri-implemented-and-external-scripts-loaded-securely",
    link: `${GUIDES}/SRI`,
  },
  "x-content-type-options": { expectation: "x-content-type-options-nosniff", link: `${GUIDES}/MIME_types` },
  "x-frame-options": { expectation: "x-frame-options-sameorigin-or-deny", link: `${GUIDES}/Clickjacking` },
  "cross-origin-resource-policy": { expectation: "corp-implemented-with-same-site", link: `${GUIDES}/CORP` },
  "cross-origin-embedder-policy": {
    expectation: "coep-implemented-with-require-corp",
    link: `${HEADERS}/Cross-Origin-Embedder-Policy`,
  },
  "cross-origin-opener-policy": {
    expectation: "coop-implemented-with-same-origin",
    link: `${HEADERS}/Cross-Origin-Opener-Policy`,
  },
};

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

/** Severity and advice for each result of a test, from its points. The test has the reference. */
const SECURITY_ADVICE: AdviceTable<string> = Object.fromEntries(
  Object.entries(SCORES).map(([result, { modifier, advice }]) => [
    result,
    { severity: severityOf(result, modifier), how: advice, reference: null },
  ]),
);

/** Returns a finding for each failed test. `id` is MDN's name of the result, `where` is MDN's name of the test. */
export function describeFailedTests(tests: readonly SecurityTest[]): Finding[] {
  const drafts = tests
    .filter(({ pass, result }) => !pass && FAILED_TESTS[result] !== undefined)
    .map(({ name, result, value }) => {
      const sent = value === null ? "" : ` Value: ${value.slice(0, MAX_VALUE)}.`;
      return { ...finding(result, name, `${FAILED_TESTS[result]}${sent}`), reference: GUIDE[name]?.link ?? null };
    });
  return adviseOn(SECURITY_ADVICE, drafts, null);
}

function severityOf(result: string, points: number): Severity {
  if (CRITICAL.has(result)) return "critical";
  return points <= WARNING_POINTS ? "warning" : "info";
}

const HEADER =
  "Send from https:// of the domain: Strict-Transport-Security: max-age=31536000; includeSubDomains; preload";
const REDIRECT = "Redirect http:// of the domain to https:// of the same host first.";

const LIST = "https://hstspreload.org/";

/** Severity and advice for each fault for the preload list, by code of hstspreload.org. */
export const PRELOAD_ADVICE: AdviceTable<string> = {
  "domain.name.cannot_compute_etld1": { severity: "info", how: null, reference: LIST },
  "domain.tls.cannot_connect": {
    severity: "info",
    how: "Serve the domain itself over https, with a certificate for its name.",
    reference: LIST,
  },
  "domain.tls.invalid_cert_chain": {
    severity: "info",
    how: "Install a certificate that browsers trust for the domain itself.",
    reference: LIST,
  },
  "response.no_header": { severity: "info", how: HEADER, reference: LIST },
  "response.multiple_headers": { severity: "info", how: "Send Strict-Transport-Security once.", reference: LIST },
  "header.preloadable.max_age.below_1_year": { severity: "info", how: HEADER, reference: LIST },
  "header.preloadable.include_sub_domains.missing": { severity: "info", how: HEADER, reference: LIST },
  "header.preloadable.preload.missing": { severity: "info", how: HEADER, reference: LIST },
  "redirects.http.no_redirect": { severity: "info", how: REDIRECT, reference: LIST },
  "redirects.http.www_first": { severity: "info", how: REDIRECT, reference: LIST },
  "redirects.http.first_redirect.insecure": { severity: "info", how: REDIRECT, reference: LIST },
};

/** Returns findings about faults for the preload list. They are warnings if the site requests to be listed (`asks`). */
export function describePreloadFaults(
  faults: readonly PreloadFault[],
  asks: boolean,
  domain: string | null,
): Finding[] {
  const drafts = faults.map(({ code, message }) =>
    finding(code, domain, `The domain cannot enter the HSTS preload list: ${message}.`, asks ? "warning" : undefined),
  );
  return adviseOn(PRELOAD_ADVICE, drafts, null).map((one) => ({
    ...one,
    id: `preload-${one.id.replaceAll(".", "-")}`,
  }));
}
