import { existing, table } from "#shared/presentation/build.ts";
import type { Table } from "#shared/presentation/presentation.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { seoAudit } from "#shared/tools/seo-audit.ts";

type SeoAudit = ResultOf<typeof seoAudit>;
type Check = SeoAudit["checks"][number];

/** Places of rules that keep a page out of the index, in words. */
export const SOURCES = {
  robots_txt: "robots.txt",
  meta_robots: "the robots meta element",
  x_robots_tag: "X-Robots-Tag",
  http_status: "the status",
} as const;
const RESULTS = { fail: "failed", pass: "passed", na: "does not apply" } as const;

/** Names of the checks of seo-audit in plain words. */
const NAMES: Readonly<Record<string, string>> = {
  "is-crawlable": "search engines let in",
  "document-title": "title",
  "meta-description": "description",
  "http-status-code": "status",
  "link-text": "texts of links",
  "crawlable-anchors": "addresses of links",
  "robots-txt": "robots.txt",
  "image-alt": "texts of images",
  hreflang: "language versions",
  canonical: "canonical address",
  "single-h1": "one main heading",
  lang: "language of the page",
  viewport: "fit for phones",
  "open-graph": "preview of shared links",
  "structured-data": "structured data",
  sitemap: "sitemap",
  https: "encryption",
  "title-length": "length of the title",
  "description-length": "length of the description",
  "canonical-self": "canonical address of its own",
};

/** Returns the name of a check in plain words; one that is not known by its id. */
export function nameCheck(id: string): string {
  return NAMES[id] ?? id.replaceAll("-", " ");
}

/** Returns the failed checks, the one with the largest share of the score first. */
export function listMissed(checks: readonly Check[]): readonly Check[] {
  return checks.filter(({ status }) => status === "fail").toSorted((one, other) => other.weight - one.weight);
}

/** Lists the checks, those to mend first, and what of the page they are about. */
export function listTables({ checks, images, links, indexable }: SeoAudit): readonly Table[] {
  return existing(
    table(
      "Checks",
      ["Check", "Result", "#Share", "Found"],
      checks
        .toSorted((one, other) => rank(one) - rank(other) || other.weight - one.weight)
        .map(({ id, status, weight, value }) => ({
          cells: [capital(nameCheck(id)), RESULTS[status], status === "na" ? null : `${weight} %`, value],
          tone: status === "fail" ? "warning" : null,
        })),
    ),
    table(
      "Kept out of the index by",
      ["Crawlers", "Place", "Rule"],
      indexable.blocked_by.map(({ source, user_agent: agent, rule }) => [
        agent === "*" ? "all" : agent,
        SOURCES[source],
        rule,
      ]),
    ),
    images &&
      table(
        "Images without a text",
        ["#Line", "Address"],
        images.missing_alt.map(({ src, line }) => [line, src]),
        images.missing_alt_total,
      ),
    links &&
      table(
        "Links that crawlers cannot follow",
        ["#Line", "Text", "Address"],
        links.uncrawlable.map(({ href, text, line }) => [line, text, href]),
        links.uncrawlable_total,
      ),
    links &&
      table(
        "Links whose text says nothing",
        ["#Line", "Text", "Address"],
        links.non_descriptive.map(({ url, text, line }) => [line, text, url]),
        links.non_descriptive_total,
      ),
  );
}

function rank({ status }: Check): number {
  return ["fail", "pass", "na"].indexOf(status);
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
