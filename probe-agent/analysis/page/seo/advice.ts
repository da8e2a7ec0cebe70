import type { Severity } from "#shared/findings.ts";
import type { SeoFacts } from "#probe-agent/analysis/page/seo/audit.ts";

/** Severity, message and advice for a failed check. */
interface SeoAdvice {
  readonly severity: Severity | ((facts: SeoFacts) => Severity);
  /** Returns the message. `value` is the value in the result of the check. */
  readonly message: (facts: SeoFacts, value: string) => string;
  readonly how: (facts: SeoFacts) => string;
  readonly reference: string;
}

const SEARCH = "https://developers.google.com/search/docs";
const CANONICAL = `${SEARCH}/crawling-indexing/consolidate-duplicate-urls`;
const MAX_NAMED = 3;

/**
 * Advice by the id of the check. Only a server error is critical, because it keeps visitors out. The other faults lower
 * the search ranking or are for information.
 */
export const SEO_ADVICE: Readonly<Record<string, SeoAdvice>> = {
  "is-crawlable": {
    severity: "warning",
    message: (_, value) => `No search engine is allowed to index the page: ${value}.`,
    how: ({ indexable }) => indexable.blocked_by.slice(0, MAX_NAMED).map(unblock).join(" "),
    reference: `${SEARCH}/crawling-indexing/block-indexing`,
  },
  "document-title": {
    severity: "warning",
    message: () => "The page has no title element with text.",
    how: () => "Add <title>Name of the page</title> to the head, with 10 to 60 characters.",
    reference: `${SEARCH}/appearance/title-link`,
  },
  "meta-description": {
    severity: "info",
    message: ({ descriptionInBody }) =>
      descriptionInBody
        ? "The description meta element is in the body, where search engines ignore it."
        : "The page has no description meta element with text, so search engines choose the text of the snippet.",
    how: () => 'Add <meta name="description" content="..."> to the head, with 50 to 160 characters about this page.',
    reference: `${SEARCH}/appearance/snippet`,
  },
  "http-status-code": {
    severity: ({ status }) => (status >= 500 ? "critical" : "warning"),
    message: ({ status }) => `The page responds with HTTP status ${status}.`,
    how: () => "Make the address respond with status 200, or redirect it to a page that does.",
    reference: `${SEARCH}/crawling-indexing/http-network-errors`,
  },
  "link-text": {
    severity: "info",
    message: ({ links }) =>
      `${links?.non_descriptive_total ?? 0} links have a text that does not describe the target${firstItems(links?.non_descriptive.map(({ text, line }) => `"${text}" in line ${line}`))}.`,
    how: () => 'Describe the target of the link, instead of using a text such as "click here".',
    reference: `${SEARCH}/crawling-indexing/links-crawlable`,
  },
  "crawlable-anchors": {
    severity: "warning",
    message: ({ links }) =>
      `Crawlers cannot follow ${links?.uncrawlable_total ?? 0} links${firstItems(links?.uncrawlable.map(({ text, href, line }) => `${href ?? `"${text}"`} in line ${line}`))}.`,
    how: () => 'Give each link an address, e.g. <a href="/products">. A script can still handle the click.',
    reference: `${SEARCH}/crawling-indexing/links-crawlable`,
  },
  "robots-txt": {
    severity: "warning",
    message: (_, value) => `robots.txt is not completely valid: ${value}.`,
    how: () =>
      'Serve /robots.txt with status 200 as text/plain, each line in the form "key: value", e.g. "User-agent: *" and "Disallow: /private".',
    reference: `${SEARCH}/crawling-indexing/robots/create-robots-txt`,
  },
  "image-alt": {
    severity: "warning",
    message: ({ images }) =>
      `${images?.missing_alt_total ?? 0} of ${images?.total ?? 0} images have no alt attribute${firstItems(images?.missing_alt.map(({ src, line }) => `${src} in line ${line}`))}.`,
    how: () => 'Add alt="what the image shows" to each of them, and alt="" to decorative images.',
    reference: `${SEARCH}/appearance/google-images`,
  },
  hreflang: {
    severity: "warning",
    message: ({ hreflang: { versions, ignored, ignoredWhy } }) => {
      const wrong = versions.filter(({ fault }) => fault !== null).map(({ lang, fault }) => `${lang} (${fault})`);
      return [
        ...(wrong.length > 0
          ? [`Search engines cannot use ${wrong.length} hreflang entries${firstItems(wrong)}.`]
          : []),
        ...(ignored > 0 ? [`Search engines ignore ${ignored} hreflang links: the first one ${ignoredWhy}.`] : []),
      ].join(" ");
    },
    how: () =>
      'Add a link for each version to the head, with an ISO 639-1 language code and a full address, e.g. <link rel="alternate" hreflang="en-GB" href="https://example.com/uk/">.',
    reference: `${SEARCH}/specialty/international/localized-versions`,
  },
  canonical: {
    severity: "warning",
    message: ({ canonicalFaults }) => canonicalFaults.map(({ message }) => message).join(" "),
    how: ({ canonicalFaults }) => [...new Set(canonicalFaults.map(({ how }) => how))].join(" "),
    reference: CANONICAL,
  },
  "single-h1": {
    severity: "info",
    message: ({ headings }) => `The page has ${headings?.counts[0] ?? 0} h1 headings instead of one.`,
    how: () => "Use one h1 element for the subject of the page, and h2 to h6 for its sections.",
    reference: "https://developer.mozilla.org/en-US/docs/Web/HTML/Reference/Elements/Heading_Elements",
  },
  lang: {
    severity: "info",
    message: ({ lang }) =>
      lang === null
        ? "The html element has no lang attribute."
        : `The lang attribute of the html element, "${lang.value}", is not a language tag.`,
    how: () => 'Set the language of the page on the html element, e.g. <html lang="en">.',
    reference: "https://developer.mozilla.org/en-US/docs/Web/HTML/Reference/Global_attributes/lang",
  },
  viewport: {
    severity: "warning",
    message: ({ viewport }) =>
      viewport === null
        ? "The page has no viewport meta element, so phones show it at the width of a desktop page."
        : `The viewport "${viewport.content.slice(0, 100)}" ${viewport.device_width ? "prevents visitors from zooming in" : "does not set width=device-width"}.`,
    how: () => 'Add <meta name="viewport" content="width=device-width, initial-scale=1"> to the head.',
    reference: "https://developer.mozilla.org/en-US/docs/Web/HTML/Guides/Viewport_meta_element",
  },
  "open-graph": {
    severity: "info",
    message: ({ og }) => `Open Graph properties are missing: ${og?.missing_required.join(", ") ?? ""}.`,
    how: ({ og }) =>
      `Add to the head: ${(og?.missing_required ?? []).map((name) => `<meta property="${name}" content="...">`).join(" ")}`,
    reference: "https://ogp.me/",
  },
  "structured-data": {
    severity: ({ dataFaults }) => (dataFaults.count > 0 ? "warning" : "info"),
    message: ({ dataFaults: { count, first } }) =>
      count === 0
        ? "The page has no structured data (JSON-LD, microdata or RDFa)."
        : `The structured data has ${count === 1 ? "1 fault" : `${count} faults`}. The first: ${first}.`,
    how: ({ dataFaults }) =>
      dataFaults.count > 0
        ? "Correct the markup. The tool schema lists every fault with its line."
        : 'Describe the page in the head, e.g. <script type="application/ld+json">{"@context": "https://schema.org", "@type": "WebPage", "name": "..."}</script>.',
    reference: `${SEARCH}/appearance/structured-data/intro-structured-data`,
  },
  sitemap: {
    severity: "info",
    message: ({ sitemap: { checked } }) =>
      checked === null
        ? "No sitemap was found."
        : `No sitemap was found: ${checked.url} responds with status ${checked.code}${checked.code === 200 ? ", but is not a sitemap" : ""}.`,
    how: ({ url }) =>
      `Publish a sitemap and list it in robots.txt: Sitemap: ${new URL("/sitemap.xml", url).href.slice(0, 200)}`,
    reference: `${SEARCH}/crawling-indexing/sitemaps/build-sitemap`,
  },
  https: {
    severity: "warning",
    message: () => "The page is served over unencrypted HTTP.",
    how: ({ url }) =>
      `Serve the page over HTTPS and redirect with status 301 to ${url.slice(0, 200).replace(/^http:/, "https:")}`,
    reference: "https://developer.chrome.com/docs/lighthouse/best-practices/is-on-https",
  },
  "title-length": {
    severity: "info",
    message: ({ title }) => `The title has ${title?.length ?? 0} characters.`,
    how: () => "Write a title of 10 to 60 characters. Search engines cut longer titles.",
    reference: `${SEARCH}/appearance/title-link`,
  },
  "description-length": {
    severity: "info",
    message: ({ meta_description: description }) => `The description has ${description?.length ?? 0} characters.`,
    how: () => "Write a description of 50 to 160 characters. Search engines cut longer descriptions.",
    reference: `${SEARCH}/appearance/snippet`,
  },
  "canonical-self": {
    severity: ({ canonical }) => (canonical.url === null ? "info" : "warning"),
    message: ({ canonical, canonicalOtherHost: host }) =>
      canonical.url === null
        ? "The page has no canonical address."
        : `The canonical address is ${canonical.url.slice(0, 200)}${host === null ? "" : `, on another host (${host})`}. Search engines show that page instead of this one.`,
    how: ({ url }) =>
      `Add <link rel="canonical" href="${url.slice(0, 200)}"> to the head, unless search engines should show another page.`,
    reference: CANONICAL,
  },
};

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

/** Returns the first three items of a list for the end of a sentence, with a leading colon. Empty for an empty list. */
export function firstItems(items: readonly string[] = []): string {
  if (items.length === 0) return "";
  const first = items.slice(0, MAX_NAMED).map((item) => item.slice(0, 100));
  return `: ${first.join(", ")}${items.length > MAX_NAMED ? " and others" : ""}`;
}
