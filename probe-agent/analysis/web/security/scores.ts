const FRAMING = "Send X-Frame-Options: DENY or SAMEORIGIN, or use frame-ancestors in the policy.";

/**
 * Points and advice by result. Results and points are those of MDN HTTP Observatory's score table (github.com/mdn/
 * mdn-http-observatory, src/grader/charts.js, algorithm version 6); the advice is ours.
 */
export const SCORES: Readonly<Record<string, { readonly modifier: number; readonly advice: string | null }>> = {
  "csp-implemented-with-no-unsafe-default-src-none": { modifier: 10, advice: null },
  "csp-implemented-with-no-unsafe": { modifier: 5, advice: "Start the policy from default-src 'none'." },
  "csp-implemented-with-unsafe-inline-in-style-src-only": {
    modifier: 0,
    advice: "Remove 'unsafe-inline', data: and whole schemes from style-src.",
  },
  "csp-implemented-but-duplicate-directives": { modifier: 0, advice: "Write report-uri and report-to only once each." },
  "csp-implemented-with-insecure-scheme-in-passive-content-only": {
    modifier: -10,
    advice: "Allow images and media only over HTTPS.",
  },
  "csp-implemented-with-unsafe-eval": {
    modifier: -10,
    advice: "Replace eval() in your scripts, then remove 'unsafe-eval'.",
  },
  "csp-implemented-with-unsafe-inline": {
    modifier: -20,
    advice: "Use nonces or hashes instead of 'unsafe-inline', and list hosts instead of whole schemes or *.",
  },
  "csp-implemented-with-insecure-scheme": { modifier: -20, advice: "Remove http: sources from the policy." },
  "csp-header-invalid": { modifier: -25, advice: "Correct the policy. Browsers cannot use it." },
  "csp-not-implemented": { modifier: -25, advice: "Send a Content-Security-Policy." },
  "csp-not-implemented-but-reporting-enabled": {
    modifier: -25,
    advice: "Send the report-only policy in the Content-Security-Policy header.",
  },

  "cookies-secure-with-httponly-sessions-and-samesite": { modifier: 5, advice: null },
  "cookies-secure-with-httponly-sessions": { modifier: 0, advice: "Set SameSite on every cookie." },
  "cookies-not-found": { modifier: 0, advice: null },
  "cookies-without-secure-flag-but-protected-by-hsts": { modifier: -5, advice: "Set Secure on every cookie." },
  "cookies-session-without-secure-flag-but-protected-by-hsts": {
    modifier: -10,
    advice: "Set Secure on session cookies.",
  },
  "cookies-without-secure-flag": { modifier: -20, advice: "Set Secure on every cookie and send HSTS." },
  "cookies-samesite-flag-invalid": { modifier: -20, advice: "Use SameSite=Lax or Strict, or None with Secure." },
  "cookies-anticsrf-without-samesite-flag": { modifier: -20, advice: "Set SameSite on anti-CSRF cookies." },
  "cookies-session-without-httponly-flag": { modifier: -30, advice: "Set HttpOnly on session cookies." },
  "cookies-session-without-secure-flag": { modifier: -40, advice: "Set Secure on session cookies and send HSTS." },

  "cross-origin-resource-sharing-not-implemented": { modifier: 0, advice: null },
  "cross-origin-resource-sharing-implemented-with-public-access": { modifier: 0, advice: null },
  "cross-origin-resource-sharing-implemented-with-restricted-access": { modifier: 0, advice: null },
  "cross-origin-resource-sharing-implemented-with-universal-access": {
    modifier: -50,
    advice: "Do not echo every Origin if you allow credentials. List the origins that need them.",
  },

  "redirection-all-redirects-preloaded": { modifier: 0, advice: null },
  "redirection-to-https": { modifier: 0, advice: null },
  "redirection-not-needed-no-http": { modifier: 0, advice: null },
  "redirection-off-host-from-http": { modifier: -5, advice: "Redirect to HTTPS on the same host first." },
  "redirection-not-to-https-on-initial-redirection": {
    modifier: -10,
    advice: "Redirect to HTTPS with the first redirect.",
  },
  "redirection-not-to-https": { modifier: -20, advice: "Redirect to HTTPS." },
  "redirection-missing": { modifier: -20, advice: "Redirect HTTP to HTTPS." },
  "redirection-invalid-cert": { modifier: -20, advice: "Install a certificate that browsers trust." },

  "referrer-policy-private": { modifier: 5, advice: null },
  "referrer-policy-not-implemented": { modifier: 0, advice: "Send Referrer-Policy: strict-origin-when-cross-origin." },
  "referrer-policy-unsafe": { modifier: -5, advice: "Use strict-origin-when-cross-origin or stricter." },
  "referrer-policy-header-invalid": { modifier: -5, advice: "Use strict-origin-when-cross-origin or stricter." },

  "hsts-preloaded": { modifier: 5, advice: null },
  "hsts-implemented-max-age-at-least-six-months": { modifier: 0, advice: "Consider joining the preload list." },
  "hsts-implemented-max-age-less-than-six-months": { modifier: -10, advice: "Raise max-age to a year." },
  "hsts-not-implemented": { modifier: -20, advice: "Send Strict-Transport-Security." },
  "hsts-header-invalid": { modifier: -20, advice: "Send one header with one max-age in seconds." },
  "hsts-not-implemented-no-https": { modifier: -20, advice: "Serve the site over HTTPS." },
  "hsts-invalid-cert": {
    modifier: -20,
    advice: "Install a certificate that browsers trust. Without it browsers ignore HSTS.",
  },

  "sri-implemented-and-all-scripts-loaded-securely": { modifier: 5, advice: null },
  "sri-implemented-and-external-scripts-loaded-securely": { modifier: 5, advice: null },
  "sri-not-implemented-response-not-html": { modifier: 0, advice: null },
  "sri-not-implemented-but-no-scripts-loaded": { modifier: 0, advice: null },
  "sri-not-implemented-but-all-scripts-loaded-from-secure-origin": {
    modifier: 0,
    advice: "Add integrity to scripts for a bonus.",
  },
  "sri-not-implemented-but-external-scripts-loaded-securely": {
    modifier: -5,
    advice: "Add integrity to scripts of other sites.",
  },
  "sri-implemented-but-external-scripts-not-loaded-securely": {
    modifier: -20,
    advice: "Load scripts of other sites from https:// URLs.",
  },
  "sri-not-implemented-and-external-scripts-not-loaded-securely": {
    modifier: -50,
    advice: "Load scripts of other sites from https:// URLs, with integrity.",
  },
  "html-not-parseable": { modifier: -20, advice: "Send HTML that can be parsed." },

  "x-content-type-options-nosniff": { modifier: 0, advice: null },
  "x-content-type-options-not-implemented": { modifier: -5, advice: "Send X-Content-Type-Options: nosniff." },
  "x-content-type-options-header-invalid": { modifier: -5, advice: "Send X-Content-Type-Options: nosniff." },

  "x-frame-options-implemented-via-csp": { modifier: 5, advice: null },
  "x-frame-options-sameorigin-or-deny": { modifier: 5, advice: null },
  "x-frame-options-allow-from-origin": { modifier: 0, advice: "Use frame-ancestors. Browsers ignore ALLOW-FROM." },
  "x-frame-options-not-implemented": { modifier: -20, advice: FRAMING },
  "x-frame-options-header-invalid": { modifier: -20, advice: FRAMING },

  "corp-not-implemented": { modifier: 0, advice: "Send Cross-Origin-Resource-Policy: same-site." },
  "corp-implemented-with-same-origin": { modifier: 10, advice: null },
  "corp-implemented-with-same-site": { modifier: 10, advice: null },
  "corp-implemented-with-cross-origin": { modifier: 0, advice: null },
  "corp-header-invalid": { modifier: -5, advice: "Use same-origin, same-site or cross-origin." },

  "coep-not-implemented": { modifier: 0, advice: null },
  "coep-implemented-with-require-corp": { modifier: 10, advice: null },
  "coep-implemented-with-credentialless": { modifier: 10, advice: null },
  "coep-implemented-with-unsafe-none": { modifier: 0, advice: null },
  "coep-header-invalid": { modifier: -5, advice: "Use require-corp, credentialless or unsafe-none." },

  "coop-not-implemented": { modifier: 0, advice: "Send Cross-Origin-Opener-Policy: same-origin." },
  "coop-implemented-with-same-origin": { modifier: 10, advice: null },
  "coop-implemented-with-same-origin-allow-popups": { modifier: 10, advice: null },
  "coop-implemented-with-noopener-allow-popups": { modifier: 10, advice: null },
  "coop-implemented-with-unsafe-none": { modifier: 0, advice: null },
  "coop-header-invalid": { modifier: -5, advice: "Use same-origin or one of its variants." },
};

/** MDN's grades, best first. */
export type SecurityLetter = "A+" | "A" | "A-" | "B+" | "B" | "B-" | "C+" | "C" | "C-" | "D+" | "D" | "D-" | "F";

const STEPS: readonly (readonly [number, SecurityLetter])[] = [
  [100, "A+"],
  [90, "A"],
  [85, "A-"],
  [80, "B+"],
  [70, "B"],
  [65, "B-"],
  [60, "C+"],
  [50, "C"],
  [45, "C-"],
  [40, "D+"],
  [30, "D"],
  [25, "D-"],
];

/** Minimum score without bonus points from which bonus points count. */
export const BONUS_FROM = 90;

/** Returns MDN's grade of a score. A score above 100 is A+. */
export function securityGrade(score: number): SecurityLetter {
  return STEPS.find(([floor]) => score >= floor)?.[1] ?? "F";
}
