import type { Severity } from "#shared/contracts/findings.ts";
import type { CheckDefinition } from "#probe-agent/analysis/site/definition.ts";

const MDN = "https://developer.mozilla.org/en-US/docs/Web";
const HEADERS = `${MDN}/HTTP/Reference/Headers`;

/** Checks of the categories Performance and Best Practices. */
const PAGE_CHECKS = {
  ttfb: {
    category: "Performance",
    max: 8,
    name: "Time to first byte",
    expected: "200 ms or less",
    how: "Cache pages, reduce the work per request, or serve from a location near visitors.",
    reference: "https://web.dev/articles/ttfb",
  },
  total: {
    category: "Performance",
    max: 3,
    name: "Load time of the page's HTML",
    expected: "1 s or less, including redirects",
    how: "Make the HTML smaller, compress it, and avoid redirects.",
    reference: "https://web.dev/articles/optimize-ttfb",
  },
  compression: {
    category: "Performance",
    max: 4,
    name: "Compression",
    expected: "Brotli or Zstandard",
    how: "Compress text with Brotli or Zstandard.",
    reference: `${HEADERS}/Content-Encoding`,
  },
  http_version: {
    category: "Performance",
    max: 3,
    name: "HTTP version",
    expected: "HTTP/2 or HTTP/3",
    how: "Enable HTTP/2 on the server.",
    reference: "https://www.rfc-editor.org/rfc/rfc9113",
  },
  html_size: {
    category: "Performance",
    max: 3,
    name: "Size of the page's HTML",
    expected: "100 KB or less on the wire",
    how: "Compress the page, and remove inline data.",
    reference: "https://web.dev/articles/optimizing-content-efficiency-optimize-encoding-and-transfer",
  },
  caching: {
    category: "Performance",
    max: 2,
    name: "Cache policy",
    expected: "A valid Cache-Control, and a validator (ETag or Last-Modified) or no-store",
    how: "Send Cache-Control and an ETag.",
    reference: "https://www.rfc-editor.org/rfc/rfc9111",
  },
  redirects: {
    category: "Performance",
    max: 2,
    name: "Redirects",
    expected: "At most one redirect",
    how: "Point links and redirects directly to the final address.",
    reference: "https://web.dev/articles/redirects",
  },
  status: {
    category: "Best Practices",
    max: 3,
    name: "Status",
    expected: "2xx",
    how: "Serve the page with status 200.",
    reference: `${MDN}/HTTP/Reference/Status`,
  },
  mixed_content: {
    category: "Best Practices",
    max: 3,
    name: "Mixed content",
    expected: "Nothing loaded over http://",
    how: "Use https:// addresses for everything the page loads.",
    reference: `${MDN}/Security/Mixed_content`,
  },
  title_desc: {
    category: "Best Practices",
    max: 3,
    name: "Title and description",
    expected: "A title and a meta description",
    how: "Give the page a title element and a meta description.",
    reference: `${MDN}/HTML/Reference/Elements/title`,
  },
  lang: {
    category: "Best Practices",
    max: 2,
    name: "Language",
    expected: "A valid language tag in the lang attribute of the html element",
    how: 'Set the language, e.g. <html lang="en">.',
    reference: `${MDN}/HTML/Reference/Global_attributes/lang`,
  },
  viewport: {
    category: "Best Practices",
    max: 2,
    name: "Viewport",
    expected: "width=device-width, without user-scalable=no",
    how: 'Add <meta name="viewport" content="width=device-width, initial-scale=1">.',
    reference: `${MDN}/HTML/Reference/Elements/meta/name/viewport`,
  },
  doctype_charset: {
    category: "Best Practices",
    max: 2,
    name: "Doctype and character encoding",
    expected: "<!doctype html>, and the encoding in the header or the first 1024 bytes",
    how: 'Start the page with <!doctype html>, and its head with <meta charset="utf-8">.',
    reference: "https://html.spec.whatwg.org/multipage/semantics.html#charset",
  },
  cookies: {
    category: "Best Practices",
    max: 2,
    name: "Cookies",
    expected: "Secure on every cookie, HttpOnly on session cookies, a valid SameSite",
    how: "Set Secure, HttpOnly and SameSite=Lax on cookies.",
    reference: `${MDN}/Security/Practical_implementation_guides/Cookies`,
  },
  indexable_robots: {
    category: "Best Practices",
    max: 1,
    name: "robots.txt",
    expected: "A readable robots.txt, or none (404)",
    how: "Serve /robots.txt as plain text, or return status 404.",
    reference: "https://www.rfc-editor.org/rfc/rfc9309",
  },
  security_txt: {
    category: "Best Practices",
    max: 1,
    name: "security.txt",
    expected: "A valid /.well-known/security.txt that has not expired",
    how: "Serve /.well-known/security.txt with Contact and Expires.",
    reference: "https://www.rfc-editor.org/rfc/rfc9116",
  },
  ipv6: {
    category: "Best Practices",
    max: 1,
    name: "IPv6",
    expected: "An AAAA record with an address that accepts connections",
    how: "Add an AAAA record for the host, and serve the site over IPv6.",
    reference: "https://www.rfc-editor.org/rfc/rfc6540",
  },
} as const satisfies Readonly<Record<string, CheckDefinition>>;

/** Checks of the categories Security Headers and SSL/TLS. */
const TRANSPORT_CHECKS = {
  csp: {
    category: "Security Headers",
    max: 9,
    name: "Content Security Policy",
    expected: "A strict policy (nonces or hashes, object-src 'none', base-uri locked) or default-src 'none'",
    how: "Send a Content-Security-Policy with nonces or hashes instead of 'unsafe-inline', object-src 'none' and base-uri 'none'.",
    reference: `${MDN}/Security/Practical_implementation_guides/CSP`,
  },
  hsts: {
    category: "Security Headers",
    max: 7,
    name: "Strict Transport Security",
    expected: "max-age of a year or more, with includeSubDomains",
    how: "Send Strict-Transport-Security: max-age=31536000; includeSubDomains over HTTPS.",
    reference: `${HEADERS}/Strict-Transport-Security`,
  },
  frame: {
    category: "Security Headers",
    max: 4,
    name: "Framing protection",
    expected: "frame-ancestors that names the sites that can frame the page, or X-Frame-Options DENY or SAMEORIGIN",
    how: "Add frame-ancestors 'none' or 'self' to the Content-Security-Policy.",
    reference: `${MDN}/Security/Practical_implementation_guides/Clickjacking`,
  },
  nosniff: {
    category: "Security Headers",
    max: 4,
    name: "MIME sniffing protection",
    expected: "X-Content-Type-Options: nosniff",
    how: "Send X-Content-Type-Options: nosniff.",
    reference: `${HEADERS}/X-Content-Type-Options`,
  },
  referrer: {
    category: "Security Headers",
    max: 3,
    name: "Referrer Policy",
    expected: "no-referrer, same-origin, strict-origin or strict-origin-when-cross-origin",
    how: "Send Referrer-Policy: strict-origin-when-cross-origin.",
    reference: `${HEADERS}/Referrer-Policy`,
  },
  permissions: {
    category: "Security Headers",
    max: 1,
    name: "Permissions Policy",
    expected: "A valid Permissions-Policy",
    how: "Send a Permissions-Policy that disables features that the site does not use, e.g. camera=(), microphone=().",
    reference: `${HEADERS}/Permissions-Policy`,
  },
  isolation: {
    category: "Security Headers",
    max: 2,
    name: "Cross-origin isolation",
    expected: "Cross-Origin-Opener-Policy same-origin and Cross-Origin-Resource-Policy same-site or same-origin",
    how: "Send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Resource-Policy: same-site.",
    reference: `${HEADERS}/Cross-Origin-Opener-Policy`,
  },
  trust: {
    category: "SSL/TLS",
    max: 8,
    name: "Trusted certificate",
    expected: "A valid certificate for this name that browsers trust",
    how: "Install a certificate of a public authority for this name, with all intermediate certificates.",
    reference: `${MDN}/Security/Practical_implementation_guides/TLS`,
  },
  protocols: {
    category: "SSL/TLS",
    max: 5,
    name: "TLS versions",
    expected: "TLS 1.3, and no version below TLS 1.2",
    how: "Enable TLS 1.3, and disable TLS 1.1, TLS 1.0 and SSL.",
    reference: "https://www.rfc-editor.org/rfc/rfc8996",
  },
  https_redirect: {
    category: "SSL/TLS",
    max: 4,
    name: "Redirect to HTTPS",
    expected: "http:// redirects directly to https:// on the same host, or port 80 is closed",
    how: "Redirect every http:// address to the same address with https://, before any other redirect.",
    reference: `${MDN}/Security/Practical_implementation_guides/TLS#http_redirections`,
  },
  expiry: {
    category: "SSL/TLS",
    max: 3,
    name: "Certificate expiry",
    expected: "More than 30 days, or a third of its lifetime, left",
    how: "Renew the certificate, and set up automatic renewal.",
    reference: "https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5",
  },
  ciphers: {
    category: "SSL/TLS",
    max: 3,
    name: "Cipher suites",
    expected: "Only suites with forward secrecy and authenticated encryption",
    how: "Offer only ECDHE suites with AES-GCM or ChaCha20-Poly1305.",
    reference: "https://www.rfc-editor.org/rfc/rfc9325#section-4.2",
  },
  key: {
    category: "SSL/TLS",
    max: 2,
    name: "Key and signature",
    expected: "RSA of 2048 bits or an elliptic curve key, signed with SHA-256 or better",
    how: "Reissue the certificate with a P-256 or RSA 2048 key.",
    reference: "https://www.rfc-editor.org/rfc/rfc9325#section-4.5",
  },
} as const satisfies Readonly<Record<string, CheckDefinition>>;

/** Scoring table with all checks in order. */
export const CHECKS = { ...TRANSPORT_CHECKS, ...PAGE_CHECKS } as const satisfies Readonly<
  Record<string, CheckDefinition>
>;

/** Stable name of a check. */
export type CheckId = keyof typeof CHECKS;

/** Result of one check. */
export interface CheckFinding {
  /** Points earned. null if the check does not apply or its facts are unknown. */
  readonly score: number | null;
  /** Value found. null if there is none. */
  readonly value: string | null;
  /** Meaning of the value, one sentence. */
  readonly detail: string;
  /** Severity of the loss, if it differs from the default: warning from 2 lost points, else info. */
  readonly severity?: Severity;
  /** Advice for this case, if it differs from the table. */
  readonly how?: string;
}

/** Returns the result of a check with its points. */
export function scored(
  score: number,
  value: string | null,
  detail: string,
  more: Pick<CheckFinding, "severity" | "how"> = {},
): CheckFinding {
  return { score, value: value === null ? null : value.slice(0, 500), detail, ...more };
}

/** Returns the result of a check that is left out of the score. */
export function notApplicable(detail: string): CheckFinding {
  return { score: null, value: null, detail };
}

/** Result of a check that needs the page's HTML, if the HTML was left out. */
export const UNREAD = notApplicable("The page is too complex to analyse.");

/** Ids of all checks in order. */
export const CHECK_IDS = Object.keys(CHECKS) as readonly CheckId[];
