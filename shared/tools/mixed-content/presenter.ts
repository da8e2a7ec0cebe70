import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { namePage, pageFacts, verdictOfPage } from "#shared/presentation/page.ts";
import { counted } from "#shared/presentation/values.ts";
import { verdictOf } from "#shared/presentation/verdict.ts";
import { listAll } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { mixedContent as contract } from "#shared/tools/mixed-content/contract.ts";

type MixedContent = ResultOf<typeof contract>;

/** mixed-content: what browsers block, upgrade or submit over http, with the lines of the page. */
export const mixedContent = definePresenter(contract, (data) => {
  const { https, verdict, counts, upgrade_insecure_requests: upgrades, block_all: blocks, findings } = data;
  const { blocked, upgraded } = countEffects(data);
  const isUnknown = https && verdict === null && findings.length === 0;
  return {
    verdict: isUnknown ? verdictOfPage(data) : verdictOfPage(data, verdictOf(findings)),
    headline: headlineOf(data),
    facts: existing(
      fact("Encrypted", https ? null : "no, served over http", { tone: "warning" }),
      ...(https && !isUnknown
        ? [
            fact("Blocked", blocked, { tone: blocked > 0 ? "warning" : "good" }),
            fact("Loaded over https", upgraded),
            fact("Forms over http", counts.forms, { tone: counts.forms > 0 ? "warning" : "good" }),
            fact("Policy", upgrades ? "upgrades all to https" : blocks ? "blocks all" : null),
            fact("In styles", counts.css === 0 ? null : counts.css),
          ]
        : []),
      ...pageFacts(data),
    ),
    tables: existing(listReferences(data)),
  };
});

/** Counts the references that browsers block, and those that they request over https instead. */
function countEffects(data: MixedContent): { readonly blocked: number; readonly upgraded: number } {
  const { counts, passive, upgrade_insecure_requests: upgrades, block_all: blocks } = data;
  const all = counts.active + counts.passive;
  if (upgrades) return { blocked: 0, upgraded: all };
  if (blocks) return { blocked: all, upgraded: 0 };
  const lost = passive.filter(({ upgradable }) => !upgradable).length;
  return { blocked: counts.active + lost, upgraded: counts.passive - lost };
}

function headlineOf(data: MixedContent): string {
  const { https, verdict, counts } = data;
  const page = namePage(data);
  if (!https) return `${page} is not encrypted: it is served over http`;
  const { blocked, upgraded } = countEffects(data);
  const parts = existing(
    blocked > 0 && `browsers block ${counted(blocked, "insecure reference")}`,
    upgraded > 0 && `browsers load ${counted(upgraded, "insecure reference")} over https instead`,
    counts.forms > 0 && `${counted(counts.forms, "form")} can be read on the way, sent over http`,
  );
  if (parts.length > 0) return `${page}: ${listAll(parts)}`;
  return verdict === null ? `${page}: not checked, no complete HTML page came` : `${page}: no mixed content`;
}

function listReferences({
  counts,
  active,
  passive,
  forms,
  upgrade_insecure_requests: upgrades,
  block_all: blocks,
}: MixedContent) {
  const row =
    (effect: string, isFault: boolean) =>
    ({ tag, attr, url, line }: MixedContent["active"][number]) => ({
      cells: [line, effect, attr === "text" ? tag : `${tag} ${attr}`, url],
      tone: isFault ? ("warning" as const) : null,
    });
  const loaded = row("loaded over https", false);
  const blocked = row("blocked", true);
  return table(
    "Insecure references",
    ["#Line", "Effect", "Element", "Address"],
    [
      ...active.map(upgrades ? loaded : blocked),
      ...passive.map((one) => (upgrades || (one.upgradable && !blocks) ? loaded(one) : blocked(one))),
      ...forms.map(row("sent over http", true)),
    ],
    counts.active + counts.passive + counts.forms,
  );
}
