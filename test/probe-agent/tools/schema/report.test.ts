import { describe, expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { structuredReport } from "#probe-agent/tools/schema/report.ts";
import { kinds } from "#test/support/findings.ts";

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
  broken: `${block('{"@type":"Recipe","name":"Soup",}')}${block("{oops}")}`,
  job: graph(
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
  variants: block({
    "@context": "https://schema.org",
    ...shirt,
    hasVariant: [variant("s"), { ...variant("m"), offers: { "@type": "Offer", priceCurrency: "EUR" } }],
  }),
  "variant-references": graph({ ...shirt, hasVariant: [{ "@id": "#s" }] }, variant("s"), {
    ...variant("m"),
    isVariantOf: { "@id": "#g" },
  }),
  "hundred-variants": graph(
    { ...shirt, hasVariant: Array.from({ length: 100 }, (_, n) => variant(`v${n}`)) },
    { "@type": "Bakery", name: "B", address: "x" },
    { "@type": "AccountingService", name: "B", address: "x" },
  ),
  contents:
    "<div itemscope itemtype=https://schema.org/Product><h1 itemprop=name>Anvil</h1><div itemprop=image content=https://a.test/a.jpg></div>" +
    "<p itemprop=offers itemscope itemtype=https://schema.org/Offer>" +
    "<span itemprop=priceCurrency content=USD>$</span><b itemprop=price content=1000.00>1,000.00</b></p></div>",
};

const schemaOf = (path: keyof typeof PAGES) => structuredReport(readHtml(PAGES[path]), "https://a.test/");

describe("a product with several variants", () => {
  const rows = (path: keyof typeof PAGES) =>
    schemaOf(path).rich_results.map(({ feature, eligible, missing_required: missing, item }) => [
      feature,
      eligible,
      missing,
      item,
    ]);

  it("is evaluated for each variant with the properties of its group (schema.org/ProductGroup)", () => {
    const price = ["offers.price or offers.priceSpecification.price"];
    expect(rows("variants")).toEqual([
      ["Product", true, [], 0],
      ["Merchant listing", true, [], 0],
      ["Product", false, price, 0],
      ["Merchant listing", false, price, 0],
    ]);
  });

  it("is evaluated once for each variant, whether the group or the variant holds the reference", () => {
    expect(rows("variant-references")).toEqual([
      ["Product", true, [], 0],
      ["Merchant listing", true, [], 0],
      ["Product", true, [], 2],
      ["Merchant listing", true, [], 2],
    ]);
  });

  it("evaluates 10 of 100 variants, leaves room for other items and reports the limit", () => {
    const { rich_results: rich, limitations } = schemaOf("hundred-variants");
    expect(rich.filter(({ feature }) => feature === "Product")).toHaveLength(10);
    expect(rich.filter(({ feature }) => feature === "LocalBusiness")).toHaveLength(2);
    expect(limitations).toContain("Only the first 10 variants of a product are evaluated: 90 are not in rich_results.");
  });
});

it("microdata is listed by the standard and evaluated with the content attributes that search engines read", () => {
  const { formats, rich_results: rich, findings } = schemaOf("contents");
  expect(formats.microdata).toMatchObject([
    { properties: { image: [""], offers: [{ properties: { price: ["1,000.00"], priceCurrency: ["$"] } }] } },
  ]);
  expect(rich.map(({ feature, eligible }) => [feature, eligible])).toEqual([
    ["Product", true],
    ["Merchant listing", true],
  ]);
  expect(findings.filter(({ id }) => id === "invalid-value")).toEqual([]);
});

describe("a page", () => {
  it("can lack required properties or have features that ended", () => {
    const { rich_results: rich, findings } = schemaOf("job");
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

  it("is read despite small faults, and gets a warning for a block without a context", () => {
    const result = schemaOf("broken");
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
});
