import { ok } from "#shared/outcome.ts";
import { seoAudit as contract } from "#shared/tools/seo-audit.ts";
import type { SeoFacts } from "#probe-agent/analysis/page/seo/audit.ts";
import type { SeoSite } from "#probe-agent/analysis/page/seo/snapshot.ts";
import { seoFindings } from "#probe-agent/analysis/page/seo/findings.ts";
import { fitFindings } from "#probe-agent/analysis/text/fitted-findings.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { analysePage, fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { fetchSiteFacts } from "#probe-agent/tools/seo-audit/gather.ts";

/** Reads a page, then the files of its site that matter to search engines, and audits both. */
export const seoAudit = implement(contract, async (net, { url }) => {
  const now = net.now();
  const fetched = await fetchPage(net, url);
  if (fetched.status !== "ok") return fetched;
  const analysis = await analysePage(net, fetched.data, "seo-page", { now });
  if (analysis.status !== "ok") return analysis;
  const { report: page, limitations } = analysis.data;
  const site = await fetchSiteFacts(net, page.url, page.favicon !== null && page.favicon.declared === null);
  const audited = await runAnalysis(net, "seo-audit", { page, site });
  if (audited.status !== "ok") return audited;
  const { facts, score } = audited.data;
  const { findings, limitations: leftOut } = fitFindings(seoFindings(facts, score.checks));
  return ok({
    ...fetched.data.head,
    ...score,
    findings,
    title: facts.title,
    meta_description: facts.meta_description === null ? null : textAndLength(facts.meta_description),
    headings: facts.headings === null ? null : headingsOf(facts.headings),
    images: facts.images,
    links: facts.links,
    canonical: facts.canonical,
    hreflang: facts.hreflang.versions.map(({ fault, ...version }) => ({ ...version, valid: fault === null })),
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
    source: ["page", ...(site.robots.known ? ["robots.txt"] : []), ...(site.sitemap.tried.known ? ["sitemap"] : [])],
    observed_at: fetched.data.observedAt,
    limitations: [...limitations, ...limitationsOf(site, facts), ...leftOut],
  });
});

function textAndLength({ text, length }: { readonly text: string; readonly length: number }) {
  return { text, length };
}

function headingsOf({ counts, texts, outline_ok: outlineOk }: NonNullable<SeoFacts["headings"]>) {
  const [h1 = 0, h2 = 0, h3 = 0, h4 = 0, h5 = 0, h6 = 0] = counts;
  return { h1, h2, h3, h4, h5, h6, texts, outline_ok: outlineOk };
}

function groupOf({ total, x_default: xDefault, self_reference: selfReference }: SeoFacts["hreflang"]) {
  return { total, x_default: xDefault, self_reference: selfReference };
}

function limitationsOf({ robots, sitemap }: SeoSite, facts: SeoFacts): string[] {
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
    ...(cut.includes(true) ? ["Long lists are cut. Their totals are complete."] : []),
    ...(facts.wordsComplete ? [] : ["The text is too long to count all its words: word_count is too low."]),
    ...(facts.title?.px === null
      ? ["The width of the title is unknown, because it has characters without a known width."]
      : []),
    ...(facts.isHtml ? ["Scripts were not run, so content that they add or change is not audited."] : []),
  ];
}
