import { existing, fact, oneLine, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { describeEvidence, withVersion } from "#shared/tools/tech-detect/evidence.ts";
import { errorPageNote, pageFacts } from "#shared/presentation/page.ts";
import { counted, percent, shortUrl } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { techDetect as contract } from "#shared/tools/tech-detect/contract.ts";

type Technology = ResultOf<typeof contract>["technologies"][number];

/** Categories that say most about a site, by their names in the public rule sets; others follow in the result's order. */
const FIRST: readonly string[] = [
  "CMS",
  "Ecommerce",
  "Web servers",
  "Programming languages",
  "Web frameworks",
  "JavaScript frameworks",
  "Static site generator",
  "CDN",
  "PaaS",
  "Hosting",
];
const MOST_NAMED = 4;
const MOST_CATEGORIES = 12;

/** tech-detect: what a site runs on, by category, then each technology with its version and evidence. */
export const techDetect = definePresenter(contract, (data) => {
  const { technologies, count } = data;
  const sorted = technologies.toSorted((a, b) => rankOf(a) - rankOf(b));
  const page = `${shortUrl(data.url)}${errorPageNote(data)}`;
  return {
    verdict: "neutral",
    headline:
      count === 0
        ? `No known technology was found at ${page}`
        : `${page} uses ${listFirst(sorted.map(withVersion), MOST_NAMED, count)}`,
    facts: existing(
      ...categoriesOf(sorted).map(([name, members]) => fact(oneLine(name), listFirst(members, MOST_NAMED))),
      fact("Technologies", count === 0 ? null : count),
      fact("Searched for", count > 0 ? null : counted(data.rules.technologies, "technology", "technologies")),
      ...pageFacts(data),
    ),
    tables: existing(
      table(
        "Technologies",
        ["Name", "Version", "Certainty", "Evidence"],
        sorted.map((one) => [
          one.name,
          one.version,
          percent(one.confidence),
          one.implied_by === null ? describeEvidence(one.evidence) : `needed by ${one.implied_by}`,
        ]),
        count,
      ),
    ),
  };
});

/** Returns the place of a technology in the order of FIRST; the sort keeps the order of those of the same place. */
function rankOf({ categories }: Technology): number {
  const ranks = categories.map(({ name }) => FIRST.indexOf(name)).filter((rank) => rank !== -1);
  return Math.min(FIRST.length, ...ranks);
}

/** Groups technologies by the category of each that is first in FIRST, else by its first one. */
function categoriesOf(sorted: readonly Technology[]): readonly (readonly [string, readonly string[]])[] {
  const groups = new Map<string, string[]>();
  for (const one of sorted) {
    const name = FIRST[rankOf(one)] ?? one.categories[0]?.name ?? "Other";
    groups.set(name, [...(groups.get(name) ?? []), withVersion(one)]);
  }
  return Array.from(groups).slice(0, MOST_CATEGORIES);
}
