import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import type { SeoFacts } from "#probe-agent/tools/seo-audit/audit.ts";

const SEARCH = "https://developers.google.com/search/docs";
const CANONICAL = `${SEARCH}/crawling-indexing/consolidate-duplicate-urls`;
const LANGUAGES = `${SEARCH}/specialty/international/localized-versions`;
const URLS = `${SEARCH}/crawling-indexing/url-structure`;
const MAX_NAMED = 3;

/**
 * Severity and advice for each failed check. Only a server error is critical, because it keeps visitors out. The other
 * faults lower the search ranking or are for information.
 */
const CHECK_ADVICE = {
  "is-crawlable": {
    severity: "warning",
    how: ({ indexable }) => indexable.blocked_by.slice(0, MAX_NAMED).map(unblock).join(" "),
    reference: `${SEARCH}/crawling-indexing/block-indexing`,
  },
  "document-title": {
    severity: "warning",
    how: "Add <title>Name of the page</title> to the head, with 10 to 60 characters.",
    reference: `${SEARCH}/appearance/title-link`,
  },
  "meta-description": {
    severity: "info",
    how: 'Add <meta name="description" content="..."> to the head, with 50 to 160 characters about this page.',
    reference: `${SEARCH}/appearance/snippet`,
  },
  "http-status-code": {
    severity: "warning",
    how: "Make the address respond with status 200, or redirect it to a page that does.",
    reference: `${SEARCH}/crawling-indexing/http-network-errors`,
  },
  "link-text": {
    severity: "info",
    how: 'Describe the target of the link, instead of using a text such as "click here".',
    reference: `${SEARCH}/crawling-indexing/links-crawlable`,
  },
  "crawlable-anchors": {
    severity: "warning",
    how: 'Give each link an address, e.g. <a href="/products">. A script can still handle the click.',
    reference: `${SEARCH}/crawling-indexing/links-crawlable`,
  },
  "robots-txt": {
    severity: "warning",
    how: 'Serve /robots.txt with status 200 as text/plain, each line in the form "key: value", e.g. "User-agent: *" and "Disallow: /private".',
    reference: `${SEARCH}/crawling-indexing/robots/create-robots-txt`,
  },
  "image-alt": {
    severity: "warning",
    how: 'Add alt="what the image shows" to each of them, and alt="" to decorative images.',
    reference: `${SEARCH}/appearance/google-images`,
  },
  hreflang: {
    severity: "warning",
    how: 'Add a link for each version to the head, with an ISO 639-1 language code and a full address, e.g. <link rel="alternate" hreflang="en-GB" href="https://example.com/uk/">.',
    reference: LANGUAGES,
  },
  canonical: {
    severity: "warning",
    how: ({ canonicalFaults }) => [...new Set(canonicalFaults.map(({ how }) => how))].join(" "),
    reference: CANONICAL,
  },
  "single-h1": {
    severity: "info",
    how: "Use one h1 element for the subject of the page, and h2 to h6 for its sections.",
    reference: "https://developer.mozilla.org/en-US/docs/Web/HTML/Reference/Elements/Heading_Elements",
  },
  lang: {
    severity: "info",
    how: 'Set the language of the page on the html element, e.g. <html lang="en">.',
    reference: "https://developer.mozilla.org/en-US/docs/Web/HTML/Reference/Global_attributes/lang",
  },
  viewport: {
    severity: "warning",
    how: 'Add <meta name="viewport" content="width=device-width, initial-scale=1"> to the head.',
    reference: "https://developer.mozilla.org/en-US/docs/Web/HTML/Guides/Viewport_meta_element",
  },
  "open-graph": {
    severity: "info",
    how: ({ og }) =>
      `Add to the head: ${(og?.missing_required ?? []).map((name) => `<meta property="${name}" content="...">`).join(" ")}`,
    reference: "https://ogp.me/",
  },
  "structured-data": {
    severity: "info",
    how: ({ dataFaults }) =>
      dataFaults.count > 0
        ? "Correct the markup. The tool schema lists every fault with its line."
        : 'Describe the page in the head, e.g. <script type="application/ld+json">{"@context": "https://schema.org", "@type": "WebPage", "name": "..."}</script>.',
    reference: `${SEARCH}/appearance/structured-data/intro-structured-data`,
  },
  sitemap: {
    severity: "info",
    how: ({ url }) =>
      `Publish a sitemap and list it in robots.txt: Sitemap: ${new URL("/sitemap.xml", url).href.slice(0, 200)}`,
    reference: `${SEARCH}/crawling-indexing/sitemaps/build-sitemap`,
  },
  https: {
    severity: "warning",
    how: ({ url }) =>
      `Serve the page over HTTPS and redirect with status 301 to ${url.slice(0, 200).replace(/^http:/, "https:")}`,
    reference: "https://developer.chrome.com/docs/lighthouse/best-practices/is-on-https",
  },
  "title-length": {
    severity: "info",
    how: "Write a title of 10 to 60 characters. Search engines cut longer titles.",
    reference: `${SEARCH}/appearance/title-link`,
  },
  "description-length": {
    severity: "info",
    how: "Write a description of 50 to 160 characters. Search engines cut longer descriptions.",
    reference: `${SEARCH}/appearance/snippet`,
  },
  "canonical-self": {
    severity: "warning",
    how: ({ url }) =>
      `Add <link rel="canonical" href="${url.slice(0, 200)}"> to the head, unless search engines should show another page.`,
    reference: CANONICAL,
  },
} as const satisfies AdviceTable<string, SeoFacts>;

/** Id of a check of the audit. */
export type SeoCheckId = keyof typeof CHECK_ADVICE;

/** Severity and advice for each kind of finding. */
export const SEO_ADVICE = {
  ...CHECK_ADVICE,
  "canonical-without-scripts": {
    severity: "info",
    how: "Move the canonical link above the noscript element.",
    reference: CANONICAL,
  },
  "hreflang-several-addresses": { severity: "warning", how: "Keep one link for each language.", reference: LANGUAGES },
  "hreflang-without-self": {
    severity: "warning",
    how: ({ url }) =>
      `Add this page with its own language, e.g. <link rel="alternate" hreflang="en" href="${url.slice(0, 200)}">.`,
    reference: LANGUAGES,
  },
  "url-too-long": { severity: "info", how: "Shorten the path to the words that describe the page.", reference: URLS },
  "url-underscores": {
    severity: "info",
    how: "Separate words with hyphens, and redirect the old address with status 301.",
    reference: URLS,
  },
  "url-capitals": {
    severity: "info",
    how: "Use lower-case letters only, and redirect other spellings with status 301.",
    reference: URLS,
  },
  "url-not-ascii": {
    severity: "info",
    how: "Use ASCII letters in new addresses. Encode other characters as UTF-8.",
    reference: URLS,
  },
  "url-white-space": {
    severity: "info",
    how: "Replace white space with hyphens, and redirect the old address with status 301.",
    reference: URLS,
  },
  "url-empty-segment": {
    severity: "info",
    how: "Use single slashes in links, and redirect addresses with double slashes with status 301.",
    reference: URLS,
  },
  "url-many-parameters": {
    severity: "info",
    how: "Move the parameters that identify the page into the path, and remove those that do not change the page.",
    reference: URLS,
  },
  "url-session": {
    severity: "warning",
    how: "Keep the session in a cookie with Secure and HttpOnly.",
    reference: URLS,
  },
  "url-tracking": {
    severity: "info",
    how: "Make the address without these parameters the canonical one, and use it in links.",
    reference: URLS,
  },
  "url-too-deep": { severity: "info", how: "Move important pages closer to the root.", reference: URLS },
} as const satisfies AdviceTable<string, SeoFacts>;

function unblock({ source, rule }: SeoFacts["indexable"]["blocked_by"][number]): string {
  switch (source) {
    case "robots_txt":
      return `Remove "${rule}" from robots.txt, or add an Allow rule for this address.`;
    case "meta_robots":
      return `Remove ${rule} from the robots meta element.`;
    case "x_robots_tag":
      return `Remove ${rule} from the X-Robots-Tag header.`;
    case "http_status":
      return "Make the address respond with status 200.";
  }
}
