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
