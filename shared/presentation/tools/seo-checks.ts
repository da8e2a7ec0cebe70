import type { ResultOf } from "#shared/tools/define.ts";
import type { seoAudit } from "#shared/tools/seo-audit.ts";

type Check = ResultOf<typeof seoAudit>["checks"][number];

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
