import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { robotsFaults } from "#probe-agent/analysis/web/robots/faults.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { type SeoFacts, joinFacts, type SeoPage } from "#probe-agent/tools/seo-audit/audit.ts";
import type { SeoCheckId } from "#probe-agent/tools/seo-audit/advice.ts";
import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import type { SeoSite } from "#probe-agent/tools/seo-audit/snapshot.ts";

/** Result of a check; null if the check does not apply, or if the facts that it needs are unknown. */
export type SeoCheckResult = { readonly pass: boolean; readonly value: string | null } | null;

/** A check of the audit. */
interface SeoCheck {
  readonly id: SeoCheckId;
  /** Part of the score: the audits of Lighthouse, or our additional checks. */
  readonly part: "lighthouse" | "extra";
  /** Weight within its part. */
  readonly weight: number;
  /** What passes, as a noun phrase or sentence. */
  readonly expected: string;
  /** What to do if the check fails. */
  readonly recommendation: string;
  evaluate(facts: SeoFacts): SeoCheckResult;
}

/** Keys of robots.txt outside RFC 9309 that search engines support, or that are harmless and common. */
const KNOWN_KEYS = /^(?:crawl-delay|host|clean-param|content-signal|content-usage|request-rate|visit-time|noindex)$/i;

/** The audits of Lighthouse's SEO category with its weights (is-crawlable: 93/23). */
const LIGHTHOUSE: readonly Omit<SeoCheck, "part">[] = [
  {
    id: "is-crawlable",
    weight: 93 / 23,
    expected: "At least one search engine may index the page",
    recommendation: "Remove the noindex, Disallow or error that indexable.blocked_by lists.",
    evaluate: ({ indexable: { value, blocked_by: bans, crawlers } }) => {
      // A page with an error status fails http-status-code. Its directives are not checked.
      if (value === null || (bans.length > 0 && bans.every(({ source }) => source === "http_status"))) return null;
      const reasons = bans.map(({ source, rule }) => `${source}: ${rule}`).join("; ");
      const blocked = crawlers.filter(({ indexable }) => indexable === false).map(({ crawler }) => crawler);
      return result(value, value && blocked.length > 0 ? `blocked: ${blocked.join(", ")} (${reasons})` : reasons);
    },
  },
  {
    id: "document-title",
    weight: 1,
    expected: "A title element with text",
    recommendation: "Give the page a title.",
    evaluate: ({ isHtml, title }) => (isHtml ? result(title !== null, title?.text) : null),
  },
  {
    id: "meta-description",
    weight: 1,
    expected: "A description meta element with text",
    recommendation: "Add a description meta element to the head.",
    evaluate: ({ isHtml, meta_description: description, descriptionInBody }) =>
      isHtml ? result(description !== null, description?.text ?? (descriptionInBody ? IN_BODY : null)) : null,
  },
  {
    id: "http-status-code",
    weight: 1,
    expected: "A status below 400",
    recommendation: "Make the page respond with status 200.",
    evaluate: ({ status }) => result(status < 400, String(status)),
  },
  {
    id: "link-text",
    weight: 1,
    expected: "Link texts that describe the target",
    recommendation: 'Replace texts like "click here" with the name of the target.',
    evaluate: ({ links }) =>
      links === null || links.internal + links.external === 0
        ? null
        : result(links.non_descriptive_total === 0, `${links.non_descriptive_total} links with a generic text`),
  },
  {
    id: "crawlable-anchors",
    weight: 1,
    expected: "Links with an address that crawlers can follow",
    recommendation: "Give links a real address in href. Scripts can still handle the click.",
    evaluate: ({ links }) =>
      links === null || links.total === 0
        ? null
        : result(links.uncrawlable_total === 0, `${links.uncrawlable_total} links that crawlers cannot follow`),
  },
  {
    id: "robots-txt",
    weight: 1,
    expected: "A valid robots.txt, or none",
    recommendation: 'Serve robots.txt with status 200 as plain text, with lines of the form "key: value".',
    evaluate: ({ robots }) => {
      // A missing robots.txt is fine. A server error blocks every crawler, which the check is-crawlable reports.
      if (!robots.known || robots.status >= 400) return null;
      if (robots.status !== 200) return result(false, `status ${robots.status}`);
      if (robots.text === null) return result(false, "HTML");
      if (robots.text.trim() === "") return null;
      const file = parseRobots(robots.text);
      const unknown = file.unknown.filter(({ key }) => !KNOWN_KEYS.test(key.slice(0, 50)));
      const wrong = [...file.errors, ...unknown, ...robotsFaults(file)].map(({ line }) => line);
      const first =
        wrong.length === 0 ? "" : `, the first is line ${wrong.reduce((one, other) => Math.min(one, other))}`;
      return result(wrong.length === 0, `${wrong.length} invalid lines${first}`);
    },
  },
  {
    id: "image-alt",
    weight: 1,
    expected: "Images with an alt attribute, which is empty for decorative images",
    recommendation: "Describe each image in its alt attribute.",
    evaluate: ({ images }) =>
      images === null || images.total === 0
        ? null
        : result(images.missing_alt_total === 0, `${images.missing_alt_total} images without alternative text`),
  },
  {
    id: "hreflang",
    weight: 1,
    expected: "Valid language codes with absolute addresses",
    recommendation: "Correct the hreflang entries that are not valid.",
    evaluate: ({ hreflang: { total, ignored, valid, versions } }) => {
      if (total + ignored === 0) return null;
      const wrong = versions.find(({ fault }) => fault !== null);
      const unread = ignored === 0 ? null : `${ignored} links that search engines ignore`;
      return result(valid, wrong === undefined ? unread : `${wrong.lang}: ${wrong.fault}`);
    },
  },
  {
    id: "canonical",
    weight: 1,
    expected: "One absolute canonical address of the same content, or none",
    recommendation: "Use one absolute canonical address of this page.",
    evaluate: ({ canonical: { url, named }, canonicalFaults }) => {
      if (named.length === 0 && canonicalFaults.length === 0) return null;
      return result(
        canonicalFaults.length === 0,
        canonicalFaults.length === 0 ? url : canonicalFaults.map(({ message }) => message).join(" "),
      );
    },
  },
];

/** The additional checks, which all have the same weight. */
const EXTRAS: readonly Omit<SeoCheck, "part" | "weight">[] = [
  {
    id: "single-h1",
    expected: "One h1 heading",
    recommendation: "Give the page one main heading.",
    evaluate: ({ headings }) =>
      headings === null ? null : result(headings.counts[0] === 1, String(headings.counts[0])),
  },
  {
    id: "lang",
    expected: "A valid language in the lang attribute of html",
    recommendation: 'Set the language of the page, e.g. lang="en".',
    evaluate: ({ isHtml, lang }) => (isHtml ? result(lang?.valid === true, lang?.value) : null),
  },
  {
    id: "viewport",
    expected: "width=device-width, and zooming allowed",
    recommendation: 'Add <meta name="viewport" content="width=device-width, initial-scale=1">.',
    evaluate: ({ isHtml, viewport }) =>
      isHtml ? result(viewport?.device_width === true && !viewport.zoom_blocked, viewport?.content) : null,
  },
  {
    id: "open-graph",
    expected: "og:title, og:type, og:image and og:url",
    recommendation: "Add the missing Open Graph properties.",
    evaluate: ({ og }) =>
      og === null
        ? null
        : result(
            og.missing_required.length === 0,
            og.missing_required.length === 0 ? null : `missing: ${og.missing_required.join(", ")}`,
          ),
  },
  {
    id: "structured-data",
    expected: "Structured data without faults",
    recommendation: "Describe the page in JSON-LD with schema.org types.",
    evaluate: ({ structured_data: data, dataFaults }) =>
      data === null
        ? null
        : result(
            data.json_ld + data.microdata + data.rdfa > 0 && dataFaults.count === 0,
            `${data.types.slice(0, 10).join(", ")}; ${dataFaults.count} faults`,
          ),
  },
  {
    id: "sitemap",
    expected: "A sitemap, listed in robots.txt or at /sitemap.xml",
    recommendation: "Publish a sitemap and list it in robots.txt.",
    evaluate: ({ sitemap: { found, checked } }) => (found === null ? null : result(found, checked?.url)),
  },
  {
    id: "https",
    expected: "The page is served over HTTPS",
    recommendation: "Serve the page over HTTPS and redirect to it.",
    evaluate: ({ url }) => result(url.startsWith("https:"), new URL(url).protocol.replace(":", "")),
  },
  {
    id: "title-length",
    expected: "10 to 60 characters",
    recommendation: "Write a title of 10 to 60 characters.",
    evaluate: ({ title }) => checkLength(title, 10, 60),
  },
  {
    id: "description-length",
    expected: "50 to 160 characters",
    recommendation: "Write a description of 50 to 160 characters.",
    evaluate: ({ meta_description: description }) => checkLength(description, 50, 160),
  },
  {
    id: "canonical-self",
    expected: "The canonical address is the page itself",
    recommendation: "Add a canonical link to the page's own address.",
    evaluate: ({ isHtml, canonical, canonicalFaults }) =>
      // The check "canonical" reports faults of the canonical address.
      isHtml && canonicalFaults.length === 0 ? result(canonical.self === true, canonical.url) : null,
  },
];

const IN_BODY = "in the body, where search engines ignore it";

/** All checks, in the order of the result. */
export const SEO_CHECKS: readonly SeoCheck[] = [
  ...LIGHTHOUSE.map((check) => ({ ...check, part: "lighthouse" as const })),
  ...EXTRAS.map((check) => ({ ...check, part: "extra" as const, weight: 1 })),
];

function result(pass: boolean, value: string | null | undefined): SeoCheckResult {
  return {
    pass,
    value: value === undefined || value === null || value === "" ? null : value.slice(0, 500).toWellFormed(),
  };
}

/** Checks the length of a text. Returns null without a text, which another check reports. */
function checkLength(text: { readonly length: number } | null, min: number, max: number): SeoCheckResult {
  return text === null ? null : result(text.length >= min && text.length <= max, String(text.length));
}

/** A check in the result of the tool. */
export interface ScoredCheck {
  readonly id: SeoCheckId;
  /** Share of the score in percent; 0 if the check does not apply. The weights add up to 100. */
  readonly weight: number;
  readonly status: "pass" | "fail" | "na";
  readonly value: string | null;
  readonly expected: string;
  readonly recommendation: string | null;
}

/** The score, from 0 to 100, and its checks. */
interface SeoScore {
  readonly score: number;
  readonly grade: LetterGrade;
  readonly checks: ScoredCheck[];
}

/** Share of each part in the score, in percent. */
const PARTS = { lighthouse: 80, extra: 20 } as const;

/**
 * Evaluates all checks and scores the results. A check that does not apply does not count in its part. A part in which
 * no check applies does not count in the score.
 */
export function scoreSeo(facts: SeoFacts): SeoScore {
  return scoreResults(SEO_CHECKS.map((check) => check.evaluate(facts)));
}

/** Audits a page with the facts about its site. */
function auditSeo({ page, site }: { readonly page: SeoPage; readonly site: SeoSite }): {
  readonly facts: SeoFacts;
  readonly score: SeoScore;
} {
  const facts = joinFacts(page, site);
  return { facts, score: scoreSeo(facts) };
}

/** The audit of a page that was read, and of its site. */
export const seoAuditAnalysis = defineAnalysis("seo-audit", auditSeo);

/** Scores the results of the checks. `results` has one entry for each check, in the order of SEO_CHECKS. */
export function scoreResults(results: readonly SeoCheckResult[]): SeoScore {
  const applies = (index: number): boolean => (results[index] ?? null) !== null;
  const sums = { lighthouse: 0, extra: 0 };
  for (const [index, { part, weight }] of SEO_CHECKS.entries()) sums[part] += applies(index) ? weight : 0;
  const whole = (sums.lighthouse > 0 ? PARTS.lighthouse : 0) + (sums.extra > 0 ? PARTS.extra : 0);
  const shares = SEO_CHECKS.map(({ part, weight }, index) =>
    applies(index) ? ((weight / sums[part]) * PARTS[part] * 100) / whole : 0,
  );
  const earned = shares.reduce((sum, share, index) => sum + (results[index]?.pass === true ? share : 0), 0);
  const score = Math.round(earned);
  return {
    score,
    grade: letterGrade(score),
    checks: SEO_CHECKS.map(({ id, expected, recommendation }, index) => {
      const checked = results[index] ?? null;
      return {
        id,
        weight: Math.round((shares[index] ?? 0) * 100) / 100,
        status: checked === null ? "na" : checked.pass ? "pass" : "fail",
        value: checked?.value ?? null,
        expected,
        recommendation: checked?.pass === false ? recommendation : null,
      };
    }),
  };
}
