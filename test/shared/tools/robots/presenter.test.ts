import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { robots } from "#shared/tools/robots/contract.ts";

const ROOT = "https://shop.test/";

describe("the presentation of robots", () => {
  it("says whether search engines may fetch the tested address, and by which rule", () => {
    const shown = presentExample(robots);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test/cart/ is closed to search engines (disallow: /cart/)");
    expect(shown.tables[0]).toMatchObject({ title: "Who may fetch https://shop.test/cart/" });
    expect(shown.tables[0]?.rows.map(({ cells }) => cells.slice(0, 3))).toEqual([
      ["no", "disallow: /cart/", "3"],
      ["no", "disallow: /", "9"],
    ]);
  });

  it("is a warning where the whole site is closed to every search engine", () => {
    const shown = presentExample(robots, ({ test }) => ({ test: { ...test, url: ROOT } }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe(
      "shop.test is closed to search engines (disallow: /cart/); AI crawlers: 28 of 30 allowed",
    );
  });

  it("names the search engines that alone are kept out, and says that no AI crawler is", () => {
    const shown = presentExample(robots, ({ test, ai_bots: bots }) => ({
      test: {
        url: ROOT,
        user_agents: test.user_agents.map((one) => ({ ...one, allowed: one.ua !== "Bingbot", matched_rule: null })),
      },
      ai_bots: { bots: bots.bots.map((one) => ({ ...one, allowed: true })), allowed: 30, disallowed: 0 },
    }));
    expect(shown.headline).toBe("shop.test is closed to Bingbot; no AI crawler is kept out");
    expect(factOf(shown, "Search engines")).toBe("5 of 6 allowed");
    expect(shown.tables.map(({ title }) => title)).not.toContain("AI crawlers that are kept out");
  });

  it("says what a missing, an unavailable and an empty file mean", () => {
    const none = presentExample(robots, () => ({ code: 404, availability: "allow_all", groups: [] }));
    expect(none.headline).toBe("shop.test has no robots.txt (status 404): crawlers may fetch everything");
    const down = presentExample(robots, () => ({ code: 503, availability: "disallow_all" }));
    expect(down.headline).toBe(
      "shop.test: robots.txt is not available (status 503), so crawlers stay away from the whole site",
    );
    const refused = presentExample(robots, () => ({ code: 429, availability: "allow_all" }));
    expect(refused.headline).toContain("refuses its robots.txt (status 429)");
    const empty = presentExample(robots, () => ({ groups: [], sitemaps: [] }));
    expect(empty.headline).toBe("shop.test: robots.txt has no rules, so crawlers may fetch everything");
    expect(factOf(empty, "Sitemaps")).toBe("none named");
  });

  it("lists several sitemaps, and delays beside the rules", () => {
    const shown = presentExample(robots, ({ groups }) => ({
      sitemaps: ["https://shop.test/a.xml", "https://shop.test/b.xml"],
      groups: groups.map((group) => ({ ...group, crawl_delay: 10 })),
    }));
    expect(factOf(shown, "Sitemaps")).toBe("https://shop.test/a.xml and 1 more");
    expect(shown.tables.find(({ title }) => title === "Sitemaps")?.rows).toHaveLength(2);
    expect(shown.tables.find(({ title }) => title === "Rules")?.rows.at(-1)?.cells).toEqual([
      "",
      "GPTBot, CCBot",
      "crawl-delay",
      "10 s",
    ]);
  });
});
