import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { namePage, pageFacts, verdictOfPage } from "#shared/presentation/page.ts";
import { yesNo } from "#shared/presentation/values.ts";
import { verdictOfPractice } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { seoAudit as contract } from "#shared/tools/seo-audit/contract.ts";
import type { Table } from "#shared/presentation/presentation.ts";

type SeoAudit = ResultOf<typeof contract>;

const MOST_LANGUAGES = 8;

/** seo-audit: the grade, whether search engines may index the page, and what to mend first. */
export const seoAudit = definePresenter(contract, (data) => ({
  verdict: verdictOfPage(data, verdictOfPractice(data.grade, data.findings)),
  headline: headlineOf(data),
  facts: listFacts(data),
  tables: listTables(data),
}));

function headlineOf(data: SeoAudit): string {
  const { grade, score, indexable } = data;
  const page = namePage(data);
  const [ban] = indexable.blocked_by;
  if (indexable.value === false)
    return `Search engines may not index ${page}${ban === undefined ? "" : `: ${SOURCES[ban.source]} says ${ban.rule}`}`;
  const [first] = listMissed(data.checks);
  return `${page}: grade ${grade}, ${score} of 100 points${first === undefined ? "" : `. Mend first: ${nameCheck(first.id)}`}`;
}

function listFacts(data: SeoAudit) {
  const { checks, title, meta_description: description, indexable, canonical, headings, images, links, lang } = data;
  const judged = checks.filter(({ status }) => status !== "na").length;
  return existing(
    fact("Grade", `${data.grade}, ${data.score} of 100`, { tone: verdictOfPractice(data.grade, []) }),
    fact("May be indexed", yesNo(indexable.value) ?? "unknown", { tone: indexable.value === false ? "warning" : null }),
    fact("Checks", `${judged - listMissed(checks).length} of ${judged} passed`),
    fact("Title", title?.text ?? "none", { tone: title === null ? "warning" : null }),
    fact("Description", description?.text ?? "none"),
    fact("Canonical", canonical.self ? "this page" : (canonical.url ?? "none")),
    fact("Language", lang === null ? "none" : lang.valid ? lang.value : `${lang.value}, not a language`),
    fact(
      "Versions",
      listFirst(
        Array.from(data.hreflang, (one) => one.lang),
        MOST_LANGUAGES,
        data.hreflang_group.total,
      ),
    ),
    fact("Headings", headings === null ? null : `${headings.h1} h1, ${headings.h2} h2, ${headings.h3} h3`),
    fact("Images", images === null ? null : `${images.total}, ${images.missing_alt_total} without a text`),
    fact("Links", links === null ? null : `${links.internal} to this site, ${links.external} to others`),
    fact("Words", data.word_count),
    fact("Sitemap", yesNo(data.sitemap.found)),
    fact("Structured data", data.structured_data?.types.join(", ")),
    ...pageFacts(data),
  );
}

type Check = SeoAudit["checks"][number];

/** Places of rules that keep a page out of the index, in words. */
const SOURCES = {
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
function nameCheck(id: string): string {
  return NAMES[id] ?? id.replaceAll("-", " ");
}

/** Returns the failed checks, the one with the largest share of the score first. */
function listMissed(checks: readonly Check[]): readonly Check[] {
  return checks.filter(({ status }) => status === "fail").toSorted((one, other) => other.weight - one.weight);
}

/** Lists the checks, those to mend first, and what of the page they are about. */
function listTables({ checks, images, links, indexable }: SeoAudit): readonly Table[] {
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
