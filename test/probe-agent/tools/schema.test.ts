import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { schema } from "#probe-agent/tools/schema.ts";
import type { HttpServer } from "#test/servers/http.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { startSite } from "#test/support/page.ts";
import { resultOf, runTool } from "#test/support/tool.ts";

const block = (json: unknown): string =>
  `<script type="application/ld+json">${typeof json === "string" ? json : JSON.stringify(json)}</script>`;
const graph = (...things: unknown[]): string => block({ "@context": "https://schema.org", "@graph": things });

const variant = (sku: string) => ({
  "@type": "Product",
  "@id": `#${sku}`,
  sku,
  offers: { "@type": "Offer", price: "9.00", priceCurrency: "EUR" },
});
const shirt = { "@type": "ProductGroup", "@id": "#g", name: "Shirt", image: "https://a.test/shirt.jpg" };

const PAGES = {
  "/shop":
    "<!doctype html>\n<title>Shop</title><meta property=og:title content=Anvil>\n" +
    graph(
      {
        "@type": "Product",
        "@id": "#p",
        name: "Anvil",
        offers: [
          { "@type": "Offer", price: "119.99", priceCurrency: "USD" },
          { "@type": "Offer", priceCurrency: "$", price: "12,50 €" },
        ],
        aggregateRating: { "@type": "AggregateRating", ratingValue: 7, reviewCount: 3 },
        brand: { "@id": "#org" },
      },
      { "@type": "Organization", "@id": "#org", name: "ACME" },
    ) +
    "\n<ol itemscope itemtype=https://schema.org/BreadcrumbList><li itemprop=itemListElement itemscope itemtype=https://schema.org/ListItem>" +
    "<span itemprop=name>Tools</span><meta itemprop=position content=1></li>" +
    "<li itemprop=itemListElement itemscope itemtype=https://schema.org/ListItem><b itemprop=name>Anvils</b><meta itemprop=position content=2></li></ol>",
  "/broken": `${block('{"@type":"Recipe","name":"Soup",}')}${block("{oops}")}`,
  "/job": graph(
    { "@type": "JobPosting", title: "Smith", datePosted: "yesterday", description: "x", hiringOrganization: "ACME" },
    { "@type": ["Restaurant"], name: "Inn", address: "1 High St" },
    { "@type": "FAQPage", mainEntity: [{ "@type": "Question", name: "Why?", acceptedAnswer: { text: "So." } }] },
    {
      "@type": "Event",
      name: "Fair",
      startDate: "2026-11-21T10:00+01:00",
      location: { "@type": "Place", name: "Field" },
    },
    {
      "@type": "WebPage",
      video: { "@type": "VideoObject", name: "V", thumbnailUrl: "/t.jpg", uploadDate: "2026-01-01" },
    },
  ),
  "/variants": block({
    "@context": "https://schema.org",
    ...shirt,
    hasVariant: [variant("s"), { ...variant("m"), offers: { "@type": "Offer", priceCurrency: "EUR" } }],
  }),
  "/variant-references": graph({ ...shirt, hasVariant: [{ "@id": "#s" }] }, variant("s"), {
    ...variant("m"),
    isVariantOf: { "@id": "#g" },
  }),
  "/hundred-variants": graph(
    { ...shirt, hasVariant: Array.from({ length: 100 }, (_, n) => variant(`v${n}`)) },
    { "@type": "Bakery", name: "B", address: "x" },
    { "@type": "AccountingService", name: "B", address: "x" },
  ),
  "/contents":
    "<div itemscope itemtype=https://schema.org/Product><h1 itemprop=name>Anvil</h1><div itemprop=image content=https://a.test/a.jpg></div>" +
    "<p itemprop=offers itemscope itemtype=https://schema.org/Offer>" +
    "<span itemprop=priceCurrency content=USD>$</span><b itemprop=price content=1000.00>1,000.00</b></p></div>",
  "/text": { type: "text/plain", body: "no page" },
  "/huge": `${block({ "@context": "https://schema.org", "@type": "Article", headline: "x".repeat(1_000_000) })}${Array.from({ length: 2000 }, (_, n) => `<p itemscope itemtype=https://schema.org/Thing><b itemprop=name>${"y".repeat(500)}${n}</b></p>`).join("")}`,
  "/deep": block("[".repeat(100_000)),
  "/ten-megabytes": `<title>x</title>${"<p>word</p>".repeat(950_000)}`,
};

let site: HttpServer;
beforeAll(async () => {
  site = await startSite(PAGES);
});
afterAll(() => site.close());

const schemaOf = (path: keyof typeof PAGES) => resultOf(schema, { url: `${site.url}${path}` });

describe("the page of a shop", () => {
  it("lists its items with their types, syntax and line", async () => {
    const result = await schemaOf("/shop");
    expect(result.items.map(({ type, source, line }) => [type, source, line])).toEqual([
      [["Product"], "json-ld", 3],
      [["Organization"], "json-ld", 3],
      [["BreadcrumbList"], "microdata", 4],
    ]);
    expect(result.types).toEqual(["Product", "AggregateRating", "Offer", "Organization", "BreadcrumbList", "ListItem"]);
    expect(result.formats.opengraph).toEqual([{ property: "og:title", content: "Anvil" }]);
    expect(result.formats.json_ld).toHaveLength(1);
    expect(result).toMatchObject({ code: 200, items_total: 3, source: ["page"], limitations: [] });
  });

  it("reports the properties that its rich results lack, also of nested and referenced entities", async () => {
    const result = await schemaOf("/shop");
    const by = new Map(result.rich_results.map((one) => [one.feature, one]));
    expect(by.get("Product")).toMatchObject({
      eligible: true,
      missing_required: [],
      missing_recommended: expect.arrayContaining(["review", "offers[0].availability"]) as unknown,
      line: 3,
      item: 0,
    });
    expect(by.get("Merchant listing")).toMatchObject({ eligible: false, missing_required: ["image"] });
    expect(by.get("Merchant listing")?.missing_recommended).not.toContain("brand.name");
    expect(by.get("Breadcrumb")).toMatchObject({ eligible: false, missing_required: ["itemListElement[0].item"] });
    expect(by.get("Organization")).toMatchObject({ eligible: true });
    expectWellFormed(result.findings);
    expect(result.findings.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'The value of offers.price, "12,50 €", is not a number with a decimal point and no other sign, e.g. 12.50.',
        'The value of offers.priceCurrency, "$", is not a three-letter ISO 4217 code.',
        "The value of aggregateRating.ratingValue, 7, is not a number up to bestRating (5).",
        "The item is not eligible for Merchant listing rich results: it lacks image.",
      ]),
    );
    expect(result.findings).toContainEqual(
      expect.objectContaining({ id: "invalid-value", where: "items[0].offers.price" }),
    );
  });
});

describe("a product with several variants", () => {
  const rows = async (path: keyof typeof PAGES) =>
    (await schemaOf(path)).rich_results.map(({ feature, eligible, missing_required: missing, item }) => [
      feature,
      eligible,
      missing,
      item,
    ]);

  it("is evaluated for each variant with the properties of its group (schema.org/ProductGroup)", async () => {
    const price = ["offers.price or offers.priceSpecification.price"];
    expect(await rows("/variants")).toEqual([
      ["Product", true, [], 0],
      ["Merchant listing", true, [], 0],
      ["Product", false, price, 0],
      ["Merchant listing", false, price, 0],
    ]);
  });

  it("is evaluated once for each variant, whether the group or the variant holds the reference", async () => {
    expect(await rows("/variant-references")).toEqual([
      ["Product", true, [], 0],
      ["Merchant listing", true, [], 0],
      ["Product", true, [], 2],
      ["Merchant listing", true, [], 2],
    ]);
  });

  it("evaluates 10 of 100 variants, leaves room for other items and reports the limit", async () => {
    const { rich_results: rich, limitations } = await schemaOf("/hundred-variants");
    expect(rich.filter(({ feature }) => feature === "Product")).toHaveLength(10);
    expect(rich.filter(({ feature }) => feature === "LocalBusiness")).toHaveLength(2);
    expect(limitations).toContain("Only the first 10 variants of a product are evaluated: 90 are not in rich_results.");
  });
});

it("microdata is listed by the standard and evaluated with the content attributes that search engines read", async () => {
  const { formats, rich_results: rich, findings } = await schemaOf("/contents");
  expect(formats.microdata).toMatchObject([
    { properties: { image: [""], offers: [{ properties: { price: ["1,000.00"], priceCurrency: ["$"] } }] } },
  ]);
  expect(rich.map(({ feature, eligible }) => [feature, eligible])).toEqual([
    ["Product", true],
    ["Merchant listing", true],
  ]);
  expect(findings.filter(({ id }) => id === "invalid-value")).toEqual([]);
});

describe("other pages", () => {
  it("lack required properties or have features that ended", async () => {
    const { rich_results: rich, findings } = await schemaOf("/job");
    expect(
      rich.map(({ feature, eligible, missing_required: missing, deprecated }) => [
        feature,
        eligible,
        missing,
        deprecated,
      ]),
    ).toEqual([
      [
        "JobPosting",
        false,
        ["jobLocation or applicantLocationRequirements", "jobLocation or jobLocationType", "hiringOrganization.name"],
        false,
      ],
      ["LocalBusiness", true, [], false],
      ["FAQ", false, [], true],
      ["Event", false, ["location.address"], false],
      ["Video", true, [], false],
    ]);
    expect(findings.map(({ message }) => message)).toContain(
      'The value of datePosted, "yesterday", is not an ISO 8601 date.',
    );
    expect(kinds(findings)).toEqual([
      "warning invalid-value",
      "warning required-property-missing",
      "info recommended-property-missing",
      "info rich-result-ended",
    ]);
  });

  it("are read despite small faults, and get a warning for a block without a context", async () => {
    const result = await schemaOf("/broken");
    expect(result.findings.map(({ id, severity, message, where }) => [severity, id, where, message])).toEqual([
      ["warning", "json-ld-fault", "line 1", "JSON-LD: a trailing comma (line 1)."],
      [
        "warning",
        "json-ld-unreadable",
        "line 1",
        'JSON-LD: expected a value, found "o" (line 1). Search engines ignore the whole block.',
      ],
      [
        "warning",
        "context-missing",
        "items[0]",
        "The block has no schema.org @context, so search engines do not understand its properties.",
      ],
    ]);
    expect(result.items).toHaveLength(1);
    expect(result.rich_results).toEqual([]);
  });

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

  it("that cannot be fetched are a failure of the target", async () => {
    const gone = await startSite({});
    await gone.close();
    const { outcome } = await runTool(schema, { url: gone.url });
    expect(outcome).toMatchObject({ status: "failed", stage: "connect", source: "target" });
  });
});
