import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { namePage, pageFacts, verdictOfPage } from "#shared/presentation/page.ts";
import { counted } from "#shared/presentation/values.ts";
import { verdictOf } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { schema as contract } from "#shared/tools/schema/contract.ts";

type Schema = ResultOf<typeof contract>;

const MOST_NAMES = 5;
const SYNTAXES = { "json-ld": "JSON-LD", microdata: "microdata", rdfa: "RDFa" } as const;

/** schema: the rich results that a page qualifies for, and its items. */
export const schema = definePresenter(contract, (data) => {
  const { items, items_total: total, types, rich_results: rich, formats, findings } = data;
  const { eligible, lacking } = sortFeatures(data);
  const isEmpty = total === 0 && findings.length === 0;
  const used = existing(
    formats.json_ld.length > 0 && SYNTAXES["json-ld"],
    formats.microdata.length > 0 && SYNTAXES.microdata,
    formats.rdfa.length > 0 && SYNTAXES.rdfa,
    formats.opengraph.length > 0 && "Open Graph",
  );
  return {
    verdict: verdictOfPage(data, isEmpty ? "neutral" : verdictOf(findings)),
    headline: headlineOf(data),
    facts: existing(
      fact("Items", total),
      fact("Rich results", eligible.length === 0 ? "none" : listFirst(eligible, MOST_NAMES)),
      fact("Not eligible for", listFirst(lacking, MOST_NAMES), { tone: "warning" }),
      fact("Types", listFirst(types, MOST_NAMES)),
      fact("Written as", used.join(", ")),
      ...pageFacts(data),
    ),
    tables: existing(
      table(
        "Rich results of Google",
        ["Kind", "Eligible", "Lacks", "#Line", "Note"],
        rich.map(({ feature, eligible: isEligible, missing_required: missing, line, note }) => ({
          cells: [feature, isEligible ? "yes" : "no", listFirst(missing, MOST_NAMES), line, note],
          tone: missing.length > 0 ? "warning" : null,
        })),
      ),
      table(
        "Items",
        ["#Line", "Type", "Name", "Written as"],
        items.map(({ type, properties, source, line }) => [
          line,
          type.length === 0 ? "no type" : listFirst(type, MOST_NAMES),
          nameOf(properties),
          SYNTAXES[source],
        ]),
        total,
      ),
    ),
  };
});

/** Returns the kinds of rich results that the page qualifies for, and those whose required properties are missing. */
function sortFeatures({ rich_results: rich }: Schema) {
  const names = (kept: Schema["rich_results"]) => Array.from(new Set(kept.map(({ feature }) => feature)));
  return {
    eligible: names(rich.filter(({ eligible }) => eligible)),
    lacking: names(rich.filter(({ deprecated, missing_required: missing }) => !deprecated && missing.length > 0)),
  };
}

function headlineOf(data: Schema): string {
  const { items_total: total, findings } = data;
  const page = namePage(data);
  if (total === 0 && findings.length === 0) return `${page} has no structured data`;
  if (total === 0) return `${page}: its structured data cannot be read`;
  const { eligible, lacking } = sortFeatures(data);
  const found = `${page}: ${counted(total, "item")} of structured data`;
  if (lacking.length > 0) return `${found}, required properties are missing for ${listFirst(lacking, MOST_NAMES)}`;
  return eligible.length > 0 ? `${found}, ready for ${listFirst(eligible, MOST_NAMES)}` : `${found}, no rich results`;
}

/** Returns the name or headline of an item; null if it has none. Microdata and RDFa have lists of values. */
function nameOf({ name, headline }: Schema["items"][number]["properties"]): string | null {
  const [first] = [name ?? headline].flat();
  return typeof first === "string" ? first : null;
}
