import { documentBase } from "#probe-agent/analysis/http/address.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { readFallback } from "#probe-agent/analysis/page/social/fallback.ts";
import { readGraph } from "#probe-agent/analysis/page/social/graph.ts";
import { readXCard } from "#probe-agent/analysis/page/social/x-card.ts";
import { readSocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";

/** Reads all parts of a page that previews use. `url` is the address of the page. */
export function readSocial(page: Page, url: string) {
  const base = documentBase(page.facts.baseHref, url);
  const tags = readSocialTags(page);
  const reading = readGraph(tags.properties, base);
  return { tags, reading, card: readXCard(tags.twitter, reading.graph, base), fallback: readFallback(page, base) };
}
