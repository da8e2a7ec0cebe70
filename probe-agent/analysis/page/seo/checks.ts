import { robotsFaults } from "#probe-agent/analysis/web/robots/faults.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import type { SeoFacts } from "#probe-agent/analysis/page/seo/audit.ts";

/** The verdict of a check; null: it does not apply, or what it needs is not known. */
export type SeoVerdict = { readonly pass: boolean; readonly value: string | null } | null;

/** A check of the audit. */
interface SeoCheck {
  readonly id: string;
  /** Which part of the score it belongs to: Lighthouse's own audits, or ours. */
  readonly part: "lighthouse" | "extra";
  /** Weight within its part. */
  readonly weight: number;
  readonly expected: string;
  /** What to do where it fails. */
  readonly recommendation: string;
  judge(facts: SeoFacts): SeoVerdict;
}

/** Keys of robots.txt that search engines know beyond RFC 9309, or that are harmless and common. */
const KNOWN_KEYS = /^(?:crawl-delay|host|clean-param|content-signal|content-usage|request-rate|visit-time|noindex)$/i;

/** The audits of Lighthouse's SEO category with its weights (is-crawlable: 93/23). */
const LIGHTHOUSE: readonly Omit<SeoCheck, "part">[] = [
  {
    id: "is-crawlable",
    weight: 93 / 23,
    expected: "At least one search engine may index the page",
    recommendation: "Remove the noindex, the Disallow or the error that is listed in indexable.blocked_by.",
    judge: ({ indexable: { value, blocked_by: bans, crawlers } }) => {
      // A page that answers with an error fails http-status-code, and is not asked for directives.
      if (value === null || (bans.length > 0 && bans.every(({ source }) => source === "http_status"))) return null;
      const reasons = bans.map(({ source, rule }) => `${source}: ${rule}`).join("; ");
      const barred = crawlers.filter(({ indexable }) => indexable === false).map(({ crawler }) => crawler);
      return found(value, value && barred.length > 0 ? `barred: ${barred.join(", ")} (${reasons})` : reasons);
    },
  },
  {
    id: "document-title",
    weight: 1,
    expected: "A title element with text",
    recommendation: "Give the page a title.",
    judge: ({ isHtml, title }) => (isHtml ? found(title !== null, title?.text) : null),
  },
  {
    id: "meta-description",
    weight: 1,
    expected: "A description meta element with text",
    recommendation: "Describe the page in a meta element.",
    judge: ({ isHtml, meta_description: description, descriptionInBody }) =>
      isHtml ? found(description !== null, description?.text ?? (descriptionInBody ? IN_BODY : null)) : null,
  },
  {
    id: "http-status-code",
    weight: 1,
    expected: "A status below 400",
    recommendation: "Let the page answer with status 200.",
    judge: ({ status }) => found(status < 400, String(status)),
  },
  {
    id: "link-text",
    weight: 1,
    expected: "Links whose texts say where they lead",
    recommendation: 'Replace texts like "click here" by the name of what is linked.',
    judge: ({ links }) =>
      links === null || links.internal + links.external === 0
        ? null
        : found(links.non_descriptive_total === 0, `${links.non_descriptive_total} that say nothing`),
  },
  {
    id: "crawlable-anchors",
    weight: 1,
    expected: "Links with an address in href",
    recommendation: "Give links a real address; scripts may still handle the click.",
    judge: ({ links }) =>
      links === null || links.total === 0
        ? null
        : found(links.uncrawlable_total === 0, `${links.uncrawlable_total} without`),
  },
  {
    id: "robots-txt",
    weight: 1,
    expected: "A robots.txt that can be read, or none",
    recommendation: 'Repair robots.txt: plain text of lines "key: value", status 200.',
    judge: ({ robots }) => {
      // None is fine, and one that fails bars every crawler: that is the fault of is-crawlable.
      if (!robots.known || robots.status >= 400) return null;
      if (robots.status !== 200) return found(false, `status ${robots.status}`);
      if (robots.text === null) return found(false, "HTML");
      if (robots.text.trim() === "") return null;
      const file = parseRobots(robots.text);
      const unknown = file.unknown.filter(({ key }) => !KNOWN_KEYS.test(key.slice(0, 50)));
      const wrong = [...file.errors, ...unknown, ...robotsFaults(file)].map(({ line }) => line);
      const first =
        wrong.length === 0 ? "" : `, the first in line ${wrong.reduce((one, other) => Math.min(one, other))}`;
      return found(wrong.length === 0, `${wrong.length} lines that mean nothing${first}`);
    },
  },
  {
    id: "image-alt",
    weight: 1,
    expected: "Images with an alt attribute, empty where they only decorate",
    recommendation: "Describe each image in its alt attribute.",
    judge: ({ images }) =>
      images === null || images.total === 0
        ? null
        : found(images.missing_alt_total === 0, `${images.missing_alt_total} without`),
  },
  {
    id: "hreflang",
    weight: 1,
    expected: "Valid language codes with absolute addresses",
    recommendation: "Mend the entries of hreflang that are not valid.",
    judge: ({ hreflang: { total, ignored, valid, versions } }) => {
      if (total + ignored === 0) return null;
      const wrong = versions.find(({ fault }) => fault !== null);
      const unread = ignored === 0 ? null : `${ignored} that search engines ignore where they are`;
      return found(valid, wrong === undefined ? unread : `${wrong.lang}: ${wrong.fault}`);
    },
  },
  {
    id: "canonical",
    weight: 1,
    expected: "One absolute canonical address of the same content, or none",
    recommendation: "Name one absolute address of this very page.",
    judge: ({ canonical: { url, named }, canonicalFaults }) => {
      if (named.length === 0 && canonicalFaults.length === 0) return null;
      return found(
        canonicalFaults.length === 0,
        canonicalFaults.length === 0 ? url : canonicalFaults.map(({ message }) => message).join(" "),
      );
    },
  },
];

const EXTRAS: readonly Omit<SeoCheck, "part" | "weight">[] = [
  {
    id: "single-h1",
    expected: "One h1 heading",
    recommendation: "Give the page one main heading.",
    judge: ({ headings }) => (headings === null ? null : found(headings.counts[0] === 1, String(headings.counts[0]))),
  },
  {
    id: "lang",
    expected: "A valid language in the lang attribute of html",
    recommendation: 'Name the page\'s language, e.g. lang="en".',
    judge: ({ isHtml, lang }) => (isHtml ? found(lang?.valid === true, lang?.value) : null),
  },
  {
    id: "viewport",
    expected: "width=device-width, with zooming allowed",
    recommendation: 'Add <meta name="viewport" content="width=device-width, initial-scale=1">.',
    judge: ({ isHtml, viewport }) =>
      isHtml ? found(viewport?.device_width === true && !viewport.zoom_blocked, viewport?.content) : null,
  },
  {
    id: "open-graph",
    expected: "og:title, og:type, og:image and og:url",
    recommendation: "Add the Open Graph properties that are missing.",
    judge: ({ og }) =>
      og === null
        ? null
        : found(
            og.missing_required.length === 0,
            og.missing_required.length === 0 ? null : `missing: ${og.missing_required.join(", ")}`,
          ),
  },
  {
    id: "structured-data",
    expected: "Structured data without faults",
    recommendation: "Describe the page in JSON-LD of schema.org.",
    judge: ({ structured_data: data, dataFaults }) =>
      data === null
        ? null
        : found(
            data.json_ld + data.microdata + data.rdfa > 0 && dataFaults.count === 0,
            `${data.types.slice(0, 10).join(", ")}; ${dataFaults.count} faults`,
          ),
  },
  {
    id: "sitemap",
    expected: "A sitemap, named in robots.txt or at /sitemap.xml",
    recommendation: "Publish a sitemap and name it in robots.txt.",
    judge: ({ sitemap: { found: isThere, checked } }) => (isThere === null ? null : found(isThere, checked?.url)),
  },
  {
    id: "https",
    expected: "The page is served over HTTPS",
    recommendation: "Serve the page over HTTPS and redirect to it.",
    judge: ({ url }) => found(url.startsWith("https:"), new URL(url).protocol.replace(":", "")),
  },
  {
    id: "title-length",
    expected: "10 to 60 characters",
    recommendation: "Write a title of 10 to 60 characters.",
    judge: ({ title }) => within(title, 10, 60),
  },
  {
    id: "description-length",
    expected: "50 to 160 characters",
    recommendation: "Write a description of 50 to 160 characters.",
    judge: ({ meta_description: description }) => within(description, 50, 160),
  },
  {
    id: "canonical-self",
    expected: "The page names itself as canonical",
    recommendation: "Add a canonical link to the page's own address.",
    judge: ({ isHtml, canonical, canonicalFaults }) =>
      // What is wrong with a canonical address is the fault of the check "canonical".
      isHtml && canonicalFaults.length === 0 ? found(canonical.self === true, canonical.url) : null,
  },
];

const IN_BODY = "in the body, where search engines ignore it";

/** All checks in the order of results. */
export const SEO_CHECKS: readonly SeoCheck[] = [
  ...LIGHTHOUSE.map((check) => ({ ...check, part: "lighthouse" as const })),
  ...EXTRAS.map((check) => ({ ...check, part: "extra" as const, weight: 1 })),
];

function found(pass: boolean, value: string | null | undefined): SeoVerdict {
  return {
    pass,
    value: value === undefined || value === null || value === "" ? null : value.slice(0, 500).toWellFormed(),
  };
}

/** Null without a text: that it is missing is the fault of another check. */
function within(text: { readonly length: number } | null, least: number, most: number): SeoVerdict {
  return text === null ? null : found(text.length >= least && text.length <= most, String(text.length));
}
