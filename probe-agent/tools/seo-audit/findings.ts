import { adviseOn, finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Finding, Severity } from "#shared/contracts/findings.ts";
import { SEO_ADVICE, type SeoCheckId } from "#probe-agent/tools/seo-audit/advice.ts";
import type { SeoFacts } from "#probe-agent/tools/seo-audit/audit.ts";
import type { ScoredCheck } from "#probe-agent/tools/seo-audit/checks.ts";
import { URL_LIMITS, type UrlFault } from "#probe-agent/tools/seo-audit/url-hygiene.ts";

type Draft = FindingDraft<keyof typeof SEO_ADVICE>;

const MAX_NAMED = 3;

/** Returns one finding for each failed check, followed by findings that do not count in the score. */
export function seoFindings(facts: SeoFacts, checks: readonly ScoredCheck[]): Finding[] {
  const { canonicalUnscripted, urlFaults, url } = facts;
  const drafts: Draft[] = [
    ...checks.filter(({ status }) => status === "fail").map((check) => failedCheck(check, facts)),
    ...canonicalUnscripted.map((message) => finding("canonical-without-scripts", "canonical", message)),
    ...languageFindings(facts),
    ...urlFaults.map((id) => finding(id, url.slice(0, 300), URL_MESSAGES[id](facts))),
  ];
  return adviseOn(SEO_ADVICE, drafts, facts);
}

function failedCheck({ id, value }: ScoredCheck, facts: SeoFacts): Draft {
  return finding(id, null, CHECK_MESSAGES[id](facts, value ?? "nothing was found"), severityOf(id, facts));
}

/** Returns the severity of a failed check if the facts decide it. */
function severityOf(id: SeoCheckId, { status, dataFaults, canonical }: SeoFacts): Severity | undefined {
  switch (id) {
    case "http-status-code":
      return status >= 500 ? "critical" : "warning";
    case "structured-data":
      return dataFaults.count > 0 ? "warning" : "info";
    case "canonical-self":
      return canonical.url === null ? "info" : "warning";
    default:
      return undefined;
  }
}

function languageFindings({ hreflang: { ambiguous, self_reference: self, total } }: SeoFacts): Draft[] {
  const found: Draft[] = [];
  if (ambiguous.length > 0) {
    const message = `hreflang lists several addresses for the same language${firstItems(ambiguous)}.`;
    found.push(finding("hreflang-several-addresses", "hreflang", message));
  }
  if (self === false) {
    const message = `hreflang lists ${total} versions but not this page itself, so search engines may ignore all of them.`;
    found.push(finding("hreflang-without-self", "hreflang", message));
  }
  return found;
}

/** Message of each failed check, by its id. `value` is the value in the result of the check. */
const CHECK_MESSAGES: Readonly<Record<SeoCheckId, (facts: SeoFacts, value: string) => string>> = {
  "is-crawlable": (_, value) => `No search engine is allowed to index the page: ${value}.`,
  "document-title": () => "The page has no title element with text.",
  "meta-description": ({ descriptionInBody }) =>
    descriptionInBody
      ? "The description meta element is in the body, where search engines ignore it."
      : "The page has no description meta element with text, so search engines choose the text of the snippet.",
  "http-status-code": ({ status }) => `The page responds with HTTP status ${status}.`,
  "link-text": ({ links }) =>
    `${links?.non_descriptive_total ?? 0} links have a text that does not describe the target${firstItems(links?.non_descriptive.map(({ text, line }) => `"${text}" in line ${line}`))}.`,
  "crawlable-anchors": ({ links }) =>
    `Crawlers cannot follow ${links?.uncrawlable_total ?? 0} links${firstItems(links?.uncrawlable.map(({ text, href, line }) => `${href ?? `"${text}"`} in line ${line}`))}.`,
  "robots-txt": (_, value) => `robots.txt is not completely valid: ${value}.`,
  "image-alt": ({ images }) =>
    `${images?.missing_alt_total ?? 0} of ${images?.total ?? 0} images have no alt attribute${firstItems(images?.missing_alt.map(({ src, line }) => `${src} in line ${line}`))}.`,
  hreflang: ({ hreflang: { versions, ignored, ignoredWhy } }) => {
    const wrong = versions.filter(({ fault }) => fault !== null).map(({ lang, fault }) => `${lang} (${fault})`);
    return [
      ...(wrong.length > 0 ? [`Search engines cannot use ${wrong.length} hreflang entries${firstItems(wrong)}.`] : []),
      ...(ignored > 0 ? [`Search engines ignore ${ignored} hreflang links: the first one ${ignoredWhy}.`] : []),
    ].join(" ");
  },
  canonical: ({ canonicalFaults }) => canonicalFaults.map(({ message }) => message).join(" "),
  "single-h1": ({ headings }) => `The page has ${headings?.counts[0] ?? 0} h1 headings instead of one.`,
  lang: ({ lang }) =>
    lang === null
      ? "The html element has no lang attribute."
      : `The lang attribute of the html element, "${lang.value}", is not a language tag.`,
  viewport: ({ viewport }) =>
    viewport === null
      ? "The page has no viewport meta element, so phones show it at the width of a desktop page."
      : `The viewport "${viewport.content.slice(0, 100)}" ${viewport.device_width ? "prevents visitors from zooming in" : "does not set width=device-width"}.`,
  "open-graph": ({ og }) => `Open Graph properties are missing: ${og?.missing_required.join(", ") ?? ""}.`,
  "structured-data": ({ dataFaults: { count, first } }) =>
    count === 0
      ? "The page has no structured data (JSON-LD, microdata or RDFa)."
      : `The structured data has ${count === 1 ? "1 fault" : `${count} faults`}. The first: ${first}.`,
  sitemap: ({ sitemap: { checked } }) =>
    checked === null
      ? "No sitemap was found."
      : `No sitemap was found: ${checked.url} responds with status ${checked.code}${checked.code === 200 ? ", but is not a sitemap" : ""}.`,
  https: () => "The page is served over unencrypted HTTP.",
  "title-length": ({ title }) => `The title has ${title?.length ?? 0} characters.`,
  "description-length": ({ meta_description: description }) =>
    `The description has ${description?.length ?? 0} characters.`,
  "canonical-self": ({ canonical, canonicalOtherHost: host }) =>
    canonical.url === null
      ? "The page has no canonical address."
      : `The canonical address is ${canonical.url.slice(0, 200)}${host === null ? "" : `, on another host (${host})`}. Search engines show that page instead of this one.`,
};

/** Message of each fault of an address. */
const URL_MESSAGES: Readonly<Record<UrlFault, (facts: SeoFacts) => string>> = {
  "url-too-long": ({ url_hygiene: { length } }) =>
    `The address has ${length} characters, more than ${URL_LIMITS.length}.`,
  "url-underscores": () => "The path has underscores between words. Search engines do not treat them as spaces.",
  "url-capitals": () => "The path has upper-case letters. Most servers distinguish them from lower-case letters.",
  "url-not-ascii": () => "The path has non-ASCII characters, which browsers copy as escapes such as %C3%A9.",
  "url-white-space": () => "The path has white space.",
  "url-empty-segment": () => "The path has an empty segment (//).",
  "url-many-parameters": ({ url_hygiene: { parameters } }) =>
    `The address has ${parameters} parameters, more than ${URL_LIMITS.parameters}.`,
  "url-session": () => "The address contains a session ID. Anyone who has the link can take over the session.",
  "url-tracking": () => "The address has tracking parameters, so search engines see the page at several addresses.",
  "url-too-deep": ({ url_hygiene: { depth } }) => `The page is ${depth} levels deep, more than ${URL_LIMITS.depth}.`,
};

/** Returns the first three items of a list for the end of a sentence, with a leading colon. Empty for an empty list. */
function firstItems(items: readonly string[] = []): string {
  if (items.length === 0) return "";
  const first = items.slice(0, MAX_NAMED).map((item) => item.slice(0, 100));
  return `: ${first.join(", ")}${items.length > MAX_NAMED ? " and others" : ""}`;
}
