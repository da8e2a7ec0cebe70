import { existing, fact } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/presentation/presenter.ts";
import { namePage, pageFacts, verdictOfPage } from "#shared/presentation/tools/page.ts";
import { listMissed, listTables, nameCheck, SOURCES } from "#shared/presentation/tools/seo-checks.ts";
import { yesNo } from "#shared/presentation/values.ts";
import { verdictOfPractice } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { seoAudit as contract } from "#shared/tools/seo-audit.ts";

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
