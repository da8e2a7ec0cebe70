import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { describeEvidence, withVersion } from "#shared/tools/tech-detect/evidence.ts";
import { errorPageNote, pageFacts } from "#shared/presentation/page.ts";
import { counted, percent, shortUrl } from "#shared/presentation/values.ts";
import { listAll, listFirst } from "#shared/text/list.ts";
import { cms as contract } from "#shared/tools/cms/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";

type Cms = ResultOf<typeof contract>;

const MOST_NAMED = 5;
const SOURCES = { assets: "files of the page", rest_api: "the site's own list" } as const;

/** cms: the system that runs a site, its version, theme and plugins, and what else it could be. */
export const cms = definePresenter(contract, (data) => {
  const { cms: system, theme, plugins, candidates } = data;
  return {
    verdict: "neutral",
    headline: headlineOf(data),
    facts: existing(
      fact("System", system?.name ?? "none found"),
      fact("Version", system === null ? null : (system.version ?? "unknown")),
      fact("Theme", theme === null ? null : withVersion(theme)),
      fact("Plugins", plugins.length === 0 ? null : plugins.length),
      fact("Newest version", data.latest_version),
      fact("Certainty", system === null ? null : percent(system.confidence)),
      fact("Evidence", system === null ? null : describeEvidence(system.evidence)),
      fact("Pages by", system?.headless ? "another program: the system only has the content" : null),
      fact("Shop software", data.ecommerce),
      fact("Page builders", listFirst(data.page_builders, MOST_NAMED)),
      fact("Hosting", listFirst(data.hosting, MOST_NAMED)),
      fact("Home page", system?.website),
      ...pageFacts(data),
    ),
    tables: existing(
      table(
        "Plugins",
        ["Name", "Version", "Known from"],
        plugins.map(({ name, version, source }) => [name, version, SOURCES[source]]),
      ),
      table(
        system === null ? "Possible systems" : "Other systems",
        ["Name", "Version", "Certainty", "Evidence"],
        candidates.map((one) => [one.name, one.version, percent(one.confidence), describeEvidence(one.evidence)]),
      ),
    ),
  };
});

function headlineOf(data: Cms): string {
  const { cms: system, theme, plugins, candidates } = data;
  const page = `${shortUrl(data.url)}${errorPageNote(data)}`;
  if (system === null) {
    const [likely] = candidates;
    const maybe = likely === undefined ? "" : `; perhaps it is ${likely.name} (${percent(likely.confidence)})`;
    return `No content management system was found at ${page}${maybe}`;
  }
  const parts = existing(
    theme === null ? null : `the theme ${withVersion(theme)}`,
    plugins.length === 0 ? null : counted(plugins.length, "plugin"),
  );
  return `${page} runs ${withVersion(system)}${parts.length === 0 ? "" : ` with ${listAll(parts)}`}`;
}
