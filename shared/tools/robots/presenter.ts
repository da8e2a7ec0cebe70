import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import type { Table } from "#shared/presentation/presentation.ts";
import { countBots, describeSignals, listBlockedBots } from "#shared/tools/robots/ai-bots.ts";
import { bytes, counted, cutUrl, shortUrl } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import { robots as contract, type RobotsResult } from "#shared/tools/robots/contract.ts";

const MOST_NAMES = 4;

/** robots: whether search engines and AI crawlers are let in, by which rule, and the sitemaps. */
export const robots = definePresenter(contract, (data) => {
  const { groups, sitemaps, availability, code, ai_bots: bots, findings } = data;
  const engines = searchEngines(data);
  const allowed = engines.filter((one) => one.allowed).length;
  const isClosed = isRoot(data.test.url) && engines.length > 0 && allowed === 0;
  const rules = groups.reduce((sum, group) => sum + group.rules.length, 0);
  return {
    verdict: worst([verdictOf(findings), isClosed ? "warning" : "good"]),
    headline: headlineOf(data),
    facts: existing(
      fact("Search engines", engines.length === 0 ? null : `${allowed} of ${engines.length} allowed`, {
        tone: isClosed ? "warning" : null,
      }),
      fact("AI crawlers", countBots(bots)),
      fact("Sitemaps", sitemaps.length === 0 ? "none named" : listFirst(sitemaps, 1)),
      fact("File", availability === "parsed" ? null : `status ${code}`, {
        tone: availability === "disallow_all" ? "bad" : null,
      }),
      fact("Rules", `${counted(rules, "rule")} in ${counted(groups.length, "group")}`),
      fact("Stated use", describeSignals(data)),
      fact("Size", availability === "parsed" ? bytes(data.size_bytes) : null),
      fact("Cut", data.truncated ? "after 500 KiB: crawlers ignore the rest" : null, { tone: "warning" }),
      fact("Read from", data.fetched_url),
    ),
    tables: existing(
      listTested(data),
      listBlockedBots(bots),
      listRules(data),
      sitemaps.length > 1 &&
        table(
          "Sitemaps",
          ["Address"],
          sitemaps.map((url) => [url]),
        ),
    ),
  };
});

/** Returns the tested crawlers that are neither `*` nor of AI services. */
function searchEngines({ test, ai_bots: { bots } }: RobotsResult) {
  const others = new Set(["*", ...bots.map(({ name }) => name)]);
  return test.user_agents.filter(({ ua }) => !others.has(ua));
}

function isRoot(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && parsed.pathname === "/" && parsed.search === "";
}

function headlineOf(data: RobotsResult): string {
  const { domain, code, availability, groups, ai_bots: bots, test } = data;
  const site = shortUrl(domain);
  if (code === 429) return `${site} refuses its robots.txt (status 429), so Google does not crawl the site`;
  if (availability === "disallow_all")
    return `${site}: robots.txt is not available (status ${code}), so crawlers stay away from the whole site`;
  if (availability === "allow_all") return `${site} has no robots.txt (status ${code}): crawlers may fetch everything`;
  if (groups.length === 0) return `${site}: robots.txt has no rules, so crawlers may fetch everything`;
  const engines = searchEngines(data);
  const blocked = engines.filter(({ allowed }) => !allowed);
  const rule = blocked[0]?.matched_rule ?? null;
  const reason = rule === null ? "" : ` (${cutUrl(rule)})`;
  const closed =
    blocked.length === 0
      ? "open to search engines"
      : blocked.length === engines.length
        ? `closed to search engines${reason}`
        : `closed to ${listFirst(
            blocked.map(({ ua }) => ua),
            MOST_NAMES,
          )}${reason}`;
  const ai = bots.disallowed === 0 ? "no AI crawler is kept out" : `AI crawlers: ${countBots(bots)}`;
  return `${shortUrl(test.url)} is ${closed}${isRoot(test.url) ? `; ${ai}` : ""}`;
}

/** Lists the tested crawlers by the rule that decides for them. */
function listTested({ test: { url, user_agents: agents } }: RobotsResult): Table | null {
  const byRule = Map.groupBy(agents, ({ allowed, matched_rule: rule, line }) => JSON.stringify([allowed, rule, line]));
  return table(
    `Who may fetch ${url}`,
    ["Allowed", "Rule", "#Line", "Crawlers"],
    Array.from(byRule.values()).flatMap((members) => {
      const [first] = members;
      if (first === undefined) return [];
      const names = members.map(({ ua }) => (ua === "*" ? "all others" : ua));
      return [
        {
          cells: [first.allowed ? "yes" : "no", first.matched_rule ?? "none", first.line, listFirst(names, MOST_NAMES)],
          tone: first.allowed ? null : ("warning" as const),
        },
      ];
    }),
  );
}

function listRules({ groups }: RobotsResult): Table | null {
  return table(
    "Rules",
    ["#Line", "Crawlers", "Rule", "Path"],
    groups.flatMap(({ user_agents: agents, rules, crawl_delay: delay }) => {
      const names = listFirst(agents, MOST_NAMES);
      return [
        ...rules.map(({ type, pattern, line }) => [line, names, type, pattern === "" ? "(empty)" : pattern]),
        ...(delay === null ? [] : [[null, names, "crawl-delay", `${delay} s`]]),
      ];
    }),
  );
}
