import { describe, expect, it } from "vitest";
import { schema } from "#probe-agent/tools/schema/schema.ts";
import { expectWellFormed } from "#test/support/findings.ts";
import { startSite } from "#test/support/page.ts";
import { resultOf } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const block = (json: unknown): string =>
  `<script type="application/ld+json">${typeof json === "string" ? json : JSON.stringify(json)}</script>`;
const graph = (...things: unknown[]): string => block({ "@context": "https://schema.org", "@graph": things });

const PAGES = {
  "/shop":
    "<!doctype html>\n<title>Shop</title><meta property=og:title content=Anvil>\n" +
    graph(
      {
        "@type": "Product",
        "@id": "#p",
        name: "Anvil",
        offers: { "@type": "Offer", price: "119.99", priceCurrency: "USD" },
        brand: { "@id": "#org" },
      },
      { "@type": "Organization", "@id": "#org", name: "ACME" },
    ) +
    "\n<ol itemscope itemtype=https://schema.org/BreadcrumbList></ol>",
  "/text": { type: "text/plain", body: "no page" },
  "/huge": `${block({ "@context": "https://schema.org", "@type": "Article", headline: "x".repeat(1_000_000) })}${Array.from({ length: 2000 }, (_, n) => `<p itemscope itemtype=https://schema.org/Thing><b itemprop=name>${"y".repeat(500)}${n}</b></p>`).join("")}`,
  "/deep": block("[".repeat(100_000)),
  "/ten-megabytes": `<title>x</title>${"<p>word</p>".repeat(950_000)}`,
};

const site = await stopAfterAll(startSite(PAGES));

const schemaOf = (path: keyof typeof PAGES) => resultOf(schema, { url: `${site.url}${path}` });

describe("the page of a shop", () => {
  it("lists its items with their types, syntax and line", async () => {
    const result = await schemaOf("/shop");
    expect(result.items.map(({ type, source, line }) => [type, source, line])).toEqual([
      [["Product"], "json-ld", 3],
      [["Organization"], "json-ld", 3],
      [["BreadcrumbList"], "microdata", 4],
    ]);
    expect(result.types).toEqual(["Product", "Offer", "Organization", "BreadcrumbList"]);
    expect(result.formats.opengraph).toEqual([{ property: "og:title", content: "Anvil" }]);
    expect(result.formats.json_ld).toHaveLength(1);
    expect(result).toMatchObject({ code: 200, items_total: 3, source: ["page"], limitations: [] });
    expect(result.rich_results[0]).toMatchObject({ feature: "Product", eligible: true, line: 3, item: 0 });
    expectWellFormed(result.findings);
  });
});

describe("other pages", () => {
  it("that are not HTML have no structured data, and a limitation gives the reason", async () => {
    const result = await schemaOf("/text");
    expect(result.items).toEqual([]);
    expect(result.limitations.join()).toMatch(/not HTML/);
  });

  it("of any size fit into a result, which reports what was cut", async () => {
    const huge = await schemaOf("/huge");
    expect(JSON.stringify(huge).length).toBeLessThan(256 * 1024);
    expect(huge.items_total).toBe(2001);
    expect(huge.limitations.join()).toMatch(/shortened.*more entries than fit into a result/);
    expect((await schemaOf("/deep")).findings[0]?.message).toMatch(/nested deeper/);
    expect((await schemaOf("/ten-megabytes")).limitations.join()).toMatch(/larger than the part that was examined/);
  });
});
