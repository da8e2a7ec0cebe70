import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";

/** Facts about a page that the advice uses. */
export interface AdvisedPage {
  readonly finalUrl: string;
  /** Origins of render-blocking resources without a preconnect or dns-prefetch hint. */
  readonly preconnectMissing: readonly string[];
}

/** Maximum number of resources that a text names. */
export const MAX_NAMED = 3;
/** Maximum length of a URL in a text, in characters. */
export const MAX_URL = 120;

/**
 * Severity and advice for each check that fails. None is critical: a slow page costs visitors, but it is reachable.
 */
export const CHECK_ADVICE = {
  ttfb: {
    severity: "warning",
    how: "Cache the page on the server or in a CDN near visitors, and remove redirects before it. The first byte should arrive within 800 ms.",
    reference: "https://web.dev/articles/ttfb",
  },
  server_response: {
    severity: "warning",
    how: "Measure the time that the server needs for this page (database, templates, calls to other services), and cache the slow part.",
    reference: "https://developer.chrome.com/docs/lighthouse/performance/server-response-time",
  },
  redirects: {
    severity: "warning",
    how: ({ finalUrl }) => `Link to ${finalUrl.slice(0, MAX_URL)}, and redirect older addresses to it in one step.`,
    reference: "https://developer.chrome.com/docs/lighthouse/performance/redirects",
  },
  compression: {
    severity: "warning",
    how: "Enable Brotli or gzip for text types. In nginx: gzip on; gzip_types text/css text/javascript application/json image/svg+xml;",
    reference: "https://developer.chrome.com/docs/lighthouse/performance/uses-text-compression",
  },
  page_weight: {
    severity: "warning",
    how: 'Resize and recompress images, remove scripts and fonts that the page does not use, and add loading="lazy" to images below the first screen.',
    reference: "https://developer.chrome.com/docs/lighthouse/performance/total-byte-weight",
  },
  render_blocking: {
    severity: "warning",
    how: "Add defer to the script elements of the head. Keep only the styles of the first screen in the style sheets of the head.",
    reference: "https://developer.chrome.com/docs/lighthouse/performance/render-blocking-resources",
  },
  caching: {
    severity: "warning",
    how: "Send Cache-Control: public, max-age=31536000, immutable with files whose names change with their content.",
    reference: "https://web.dev/articles/http-cache",
  },
  http_version: {
    severity: "warning",
    how: "Enable HTTP/2 on the TLS port of the server. In nginx: http2 on;",
    reference: "https://developer.chrome.com/docs/lighthouse/best-practices/uses-http2",
  },
  dom_size: {
    severity: "warning",
    how: "Load long lists in parts, and remove elements that only wrap others. The page should have fewer than 818 elements.",
    reference: "https://developer.chrome.com/docs/lighthouse/performance/dom-size",
  },
  image_dimensions: {
    severity: "warning",
    how: 'Give every img element its size, e.g. <img src="photo.jpg" width="640" height="360">.',
    reference: "https://web.dev/articles/optimize-cls",
  },
  image_formats: {
    severity: "info",
    how: 'Offer AVIF or WebP in addition to the old format, e.g. <picture><source srcset="photo.avif" type="image/avif"><img src="photo.jpg"></picture>.',
    reference: "https://developer.chrome.com/docs/lighthouse/performance/uses-webp-images",
  },
} as const satisfies AdviceTable<string, AdvisedPage>;

/** Name of a check, a part of the score. */
export type PerformanceCheckId = keyof typeof CHECK_ADVICE;

/** Severity and advice for each kind of finding. */
export const PERFORMANCE_ADVICE = {
  ...CHECK_ADVICE,
  "error-page": {
    severity: "warning",
    how: "Serve the page with status 200, or test a URL that has this status.",
    reference: "https://www.rfc-editor.org/rfc/rfc9110#section-15",
  },
  "preconnect-missing": {
    severity: "info",
    how: ({ preconnectMissing: origins }) =>
      `Add to the start of the head: ${origins
        .slice(0, MAX_NAMED)
        .map((origin) => `<link rel="preconnect" href="${origin}">`)
        .join(" ")}`,
    reference: "https://web.dev/articles/preconnect-and-dns-prefetch",
  },
  "resource-errors": {
    severity: "warning",
    how: "Publish the missing files, or remove the elements that reference them.",
    reference: "https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
  },
} as const satisfies AdviceTable<string, AdvisedPage>;
