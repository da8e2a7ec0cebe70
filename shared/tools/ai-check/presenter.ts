import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { countBots, describeSignals, listBlockedBots } from "#shared/tools/robots/ai-bots.ts";
import { errorPageNote, pageFacts, verdictOfPage } from "#shared/presentation/page.ts";
import { counted, shortUrl, yesNo } from "#shared/presentation/values.ts";
import { verdictOfPractice } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import { aiCheck as contract, type AiCheckResult } from "#shared/tools/ai-check/contract.ts";

const MOST_NAMES = 5;

const CHECKS: Readonly<Record<string, string>> = {
  robots: "robots.txt",
  crawlers: "AI crawlers",
  static_text: "Text without scripts",
  structured_data: "Structured data",
  llms_txt: "llms.txt",
  sitemap: "Sitemap",
  semantic_html: "Marked parts",
  description: "Description",
  preference: "Stated use",
  no_blanket_ban: "No ban on all AI",
};

/** ai-check: how well AI search and assistants can read a site, and which of their crawlers it lets in. */
export const aiCheck = definePresenter(contract, (data) => ({
  verdict: verdictOfPage(data, verdictOfPractice(data.grade, data.findings)),
  headline: headlineOf(data),
  facts: listFacts(data),
  tables: existing(
    table(
      "Checks",
      ["Check", "#Points", "Found"],
      data.checks
        .toSorted((one, other) => lost(other) - lost(one))
        .map((check) => ({
          cells: [
            CHECKS[check.id] ?? check.id.replaceAll("_", " "),
            check.status === "na" ? "not counted" : `${check.score} of ${check.max}`,
            check.detail,
          ],
          tone: check.status === "fail" ? "warning" : null,
        })),
    ),
    listBlockedBots(data.robots),
    table(
      "Feeds",
      ["Type", "Address"],
      data.feeds.map(({ type, url }) => [type, url]),
    ),
  ),
}));

function headlineOf(data: AiCheckResult): string {
  const { domain, grade, score, robots, ssr_words: words } = data;
  const rated = `${shortUrl(domain)}${errorPageNote(data)}: AI readiness ${grade}, ${score} of 100`;
  if (robots.allowed === 0 && robots.disallowed > 0) return `${rated}; robots.txt keeps out all AI crawlers`;
  if (words === 0) return `${rated}; the page has no text before scripts run`;
  return robots.disallowed === 0 ? rated : `${rated}; robots.txt keeps out ${counted(robots.disallowed, "AI crawler")}`;
}

function listFacts(data: AiCheckResult) {
  const { meta, llms_txt: llms, mcp, md_alternate: markdown, structured_data: structured } = data;
  const bans = existing(meta.noai && "noai", meta.noimageai && "noimageai", meta.nosnippet && "nosnippet");
  return existing(
    fact("Grade", `${data.grade}, ${data.score} of 100`, { tone: verdictOfPractice(data.grade, []) }),
    fact("AI crawlers", countBots(data.robots)),
    fact("Words without scripts", data.ssr_words, { tone: data.ssr_words === 0 ? "warning" : null }),
    fact("Stated use", describeSignals(data) ?? "nothing"),
    fact("Bans on all AI", bans.join(", "), { tone: "warning" }),
    fact("Mining reserved", yesNo(data.tdmrep.reserved)),
    fact("llms.txt", llms.exists ? (llms.valid ? counted(llms.links, "link") : "not valid") : "none"),
    fact("llms-full.txt", data.llms_full_txt.exists ? "yes" : null),
    fact("ai.txt", data.ai_txt.exists ? "yes" : null),
    fact("Structured data", structured.found ? listFirst(structured.types, MOST_NAMES) || "yes" : "none"),
    fact("Sitemap", yesNo(data.sitemap.found)),
    fact("Agent endpoint", mcp.found ? (mcp.url ?? "yes") : null),
    fact("As Markdown", markdown.linked ?? (markdown.negotiated ? "on request" : null)),
    ...pageFacts(data),
  );
}

function lost({ status, max, score }: AiCheckResult["checks"][number]): number {
  return status === "na" ? -1 : max - score;
}
