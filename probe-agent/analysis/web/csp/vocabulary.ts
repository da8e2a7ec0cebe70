/** Directives with a source list that fall back to others (CSP3 section 6.7.4), nearest fallback first. */
export const FALLBACKS: Readonly<Record<string, readonly string[]>> = {
  "child-src": ["default-src"],
  "connect-src": ["default-src"],
  "font-src": ["default-src"],
  "frame-src": ["child-src", "default-src"],
  "img-src": ["default-src"],
  "manifest-src": ["default-src"],
  "media-src": ["default-src"],
  "object-src": ["default-src"],
  "prefetch-src": ["default-src"],
  "script-src": ["default-src"],
  "script-src-attr": ["script-src", "default-src"],
  "script-src-elem": ["script-src", "default-src"],
  "style-src": ["default-src"],
  "style-src-attr": ["style-src", "default-src"],
  "style-src-elem": ["style-src", "default-src"],
  "worker-src": ["child-src", "script-src", "default-src"],
};

/** All directives whose values are source expressions, with or without a fallback. */
export const SOURCE_LIST_DIRECTIVES: ReadonlySet<string> = new Set([
  ...Object.keys(FALLBACKS),
  "default-src",
  "fenced-frame-src",
  "base-uri",
  "form-action",
  "frame-ancestors",
  "navigate-to",
]);

/** Every directive that browsers support or supported. */
export const KNOWN_DIRECTIVES: ReadonlySet<string> = new Set([
  ...SOURCE_LIST_DIRECTIVES,
  "sandbox",
  "report-uri",
  "report-to",
  "upgrade-insecure-requests",
  "block-all-mixed-content",
  "trusted-types",
  "require-trusted-types-for",
  "require-sri-for",
  "plugin-types",
  "referrer",
  "reflected-xss",
  "disown-opener",
  "webrtc",
  "treat-as-public-address",
]);

/** Keyword sources (CSP3 section 2.3.1 and extensions). */
export const KEYWORDS: ReadonlySet<string> = new Set([
  "'none'",
  "'self'",
  "'unsafe-inline'",
  "'unsafe-eval'",
  "'wasm-unsafe-eval'",
  "'wasm-eval'",
  "'strict-dynamic'",
  "'unsafe-hashes'",
  "'unsafe-hashed-attributes'",
  "'report-sample'",
  "'inline-speculation-rules'",
  "'trusted-types-eval'",
  "'report-sha256'",
  "'report-sha384'",
  "'report-sha512'",
  "'unsafe-allow-redirects'",
]);

/** Directives that browsers ignore in a meta element (HTML, http-equiv content-security-policy). */
export const IGNORED_IN_META: ReadonlySet<string> = new Set(["frame-ancestors", "report-uri", "sandbox"]);

/** Directives that were removed from the specification, with their replacement. */
export const DEPRECATED_DIRECTIVES: Readonly<Record<string, string>> = {
  "block-all-mixed-content": "browsers upgrade or block mixed content by themselves",
  "plugin-types": "browsers no longer support plugins",
  "prefetch-src": "default-src and the directive of the resource apply",
  "disown-opener": "use Cross-Origin-Opener-Policy",
  "reflected-xss": "browsers no longer have XSS filters",
  "require-sri-for": "no browser released it",
  "navigate-to": "no browser released it",
  referrer: "use Referrer-Policy",
};
