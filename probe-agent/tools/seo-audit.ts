import { ok } from "#shared/outcome.ts";
import { seoAudit as contract } from "#shared/tools/seo-audit.ts";
import { readFacts, type SeoFacts } from "#probe-agent/analysis/seo/audit.ts";
import { scoreSeo } from "#probe-agent/analysis/seo/score.ts";
import type { SeoSnapshot } from "#probe-agent/analysis/seo/snapshot.ts";
import { seePage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { gatherSeo } from "#probe-agent/tools/seo-audit/gather.ts";

/** The page, what stands beside it, then the audit of both. */
export const seoAudit = implement(contract, async (net, { url }) => {
  const now = net.now();
  const seen = await seePage(net, url);
  if (seen.status !== "ok") return seen;
  const snapshot = await gatherSeo(net, seen.data, now);
  const facts = readFacts(snapshot);
  return ok({
    ...seen.data.head,
    ...scoreSeo(facts),
    title: facts.title,
    meta_description: facts.meta_description === null ? null : textAndLength(facts.meta_description),
    headings: facts.headings === null ? null : headingsOf(facts.headings),
    images: facts.images,
    links: facts.links,
    canonical: facts.canonical,
    hreflang: facts.hreflang.versions,
    hreflang_group: groupOf(facts.hreflang),
    robots_meta: facts.robots_meta,
    x_robots_tag: facts.x_robots_tag,
    indexable: facts.indexable,
    lang: facts.lang,
    viewport: facts.viewport,
    word_count: facts.word_count,
    text_html_ratio: facts.text_html_ratio,
    sitemap: facts.sitemap,
    structured_data: facts.structured_data,
    og: facts.og,
    favicon: facts.favicon,
    url_hygiene: facts.url_hygiene,
    source: [
      "page",
      ...(snapshot.robots.known ? ["robots.txt"] : []),
      ...(snapshot.sitemap.tried.known ? ["sitemap"] : []),
    ],
    observed_at: seen.data.observedAt,
    limitations: [...seen.data.limitations, ...limitationsOf(snapshot, facts)],
  });
});

function textAndLength({ text, length }: { readonly text: string; readonly length: number }) {
  return { text, length };
}

function headingsOf({ counts, texts, outline_ok: outlineOk }: NonNullable<SeoFacts["headings"]>) {
  const [h1 = 0, h2 = 0, h3 = 0, h4 = 0, h5 = 0, h6 = 0] = counts;
  return { h1, h2, h3, h4, h5, h6, texts, outline_ok: outlineOk };
}

function groupOf({ total, x_default: xDefault, self_reference: selfReference, issues }: SeoFacts["hreflang"]) {
  return { total, x_default: xDefault, self_reference: selfReference, issues };
}

function limitationsOf({ robots, sitemap, page }: SeoSnapshot, facts: SeoFacts): string[] {
  const cut = [
    facts.headings !== null &&
      facts.headings.counts.reduce((sum, count) => sum + count, 0) > facts.headings.texts.length,
    facts.images !== null && facts.images.missing_alt_total > facts.images.missing_alt.length,
    facts.links !== null && facts.links.non_descriptive_total > facts.links.non_descriptive.length,
    facts.links !== null && facts.links.uncrawlable_total > facts.links.uncrawlable.length,
    facts.hreflang.total > facts.hreflang.versions.length,
  ];
  return [
    ...(robots.known ? [] : [robots.why]),
    ...(sitemap.tried.known ? [] : [sitemap.tried.why]),
    ...(cut.includes(true) ? ["Long lists are cut; their totals are not."] : []),
    ...(facts.wordsComplete ? [] : ["The text is too long to be counted whole: there are more words."]),
    ...(facts.title?.px === null ? ["The width of the title cannot be estimated for its script."] : []),
    ...(page === null ? [] : ["Scripts were not run: what they add or change is not seen."]),
  ];
}
