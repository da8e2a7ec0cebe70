import { describe, expect, it } from "vitest";
import { locateData } from "#probe-agent/analysis/page/html-metadata.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { readEntities } from "#probe-agent/analysis/page/structured/entity.ts";
import { FEATURES } from "#probe-agent/tools/schema/features.ts";
import { richResults } from "#probe-agent/tools/schema/rich-results.ts";
import {
  element,
  ENDED,
  movie,
  offer,
  rating,
  TABLES,
  type JsonLdNode,
} from "#test/probe-agent/tools/schema/rich-result-tables.ts";

const resultsOf = (html: string) => richResults(readEntities(locateData(readHtml(html), "https://example.com/page")));
const jsonLd = (thing: unknown): string => `<script type="application/ld+json">${JSON.stringify(thing)}</script>`;
const results = (thing: JsonLdNode) => resultsOf(jsonLd({ "@context": "https://schema.org", ...thing }));
const resultOf = (feature: string, thing: JsonLdNode) => results(thing).find((one) => one.feature === feature);

const paths = (row: string): string[] => (row === "" ? [] : row.split(" ").map((need) => need.split("|").join(" or ")));

describe("every rich result follows the table that its provider publishes", () => {
  it.each(TABLES)("$feature ($page)", ({ required = {}, recommended = "", asOf = "2026-09-01", ...row }) => {
    const { feature, page, minimal } = row;
    const whole = resultOf(feature, minimal);
    expect(whole).toMatchObject({ eligible: true, deprecated: false, missing_required: [], reference_date: asOf });
    expect(whole?.reference).toBe(`https://developers.google.com/search/docs/appearance/structured-data/${page}`);
    expect(whole?.missing_recommended.toSorted()).toEqual(paths(recommended).toSorted());
    for (const [property, missing] of Object.entries(required)) {
      const rest = Object.fromEntries(Object.entries(minimal).filter(([name]) => name !== property));
      const found = results(rest).filter((one) => one.feature === feature);
      expect(found.map((one) => [one.eligible, one.missing_required])).toEqual([[false, missing.split("; ")]]);
    }
    for (const property of Object.keys(minimal).filter((name) => name !== "@type" && required[name] === undefined)) {
      const rest = Object.fromEntries(Object.entries(minimal).filter(([name]) => name !== property));
      expect(results(rest).some((one) => one.feature === feature && !one.eligible)).toBe(false);
    }
  });

  it.each(ENDED)("%s has ended (%s)", (feature, date, thing) => {
    expect(resultOf(feature, thing)).toMatchObject({
      eligible: false,
      deprecated: true,
      missing_required: [],
      missing_recommended: [],
      reference_date: date,
      note: `No longer shown in search results (${date}).`,
    });
  });

  it("every feature of the product has a row in the tables of the test", () => {
    const rows = [...TABLES.map(({ feature }) => feature), ...ENDED.map(([feature]) => feature)];
    expect(new Set(FEATURES.map(({ name }) => name))).toEqual(new Set(rows));
  });
});

describe("an author", () => {
  const article = (author: unknown) => resultOf("Article", { "@type": "BlogPosting", headline: "H", author });

  it("is not required of an article and can be a text", () => {
    expect(article(undefined)).toMatchObject({ eligible: true, missing_required: [] });
    expect(article("Jane Doe")?.missing_required).toEqual([]);
    expect(article("Jane Doe")?.missing_recommended).not.toContain("author");
    expect(article("Jane Doe")?.missing_recommended).not.toContain("author.name");
    expect(article(" ")?.missing_recommended).toContain("author");
  });

  it("can be an entity without a name, a list or a reference", () => {
    expect(article({ "@type": "Person", url: "/jane" })).toMatchObject({ eligible: true });
    expect(article({ "@type": "Person", url: "/jane" })?.missing_recommended).toContain("author.name");
    expect(article(["Jane", { name: "Joe", sameAs: "https://joe.test" }])?.missing_recommended).toEqual(
      expect.not.arrayContaining(["author[0].name", "author[1].name", "author[1].url or author[1].sameAs"]),
    );
    for (const reference of [{ "@id": "#jane" }, { "@type": "Person", "@id": "#jane" }]) {
      const [result] = results({
        "@graph": [
          { "@type": "Article", author: reference },
          { "@type": "Person", "@id": "#jane", name: "Jane", url: "/jane" },
        ],
      });
      expect(result?.missing_recommended.filter((path) => path.startsWith("author"))).toEqual([]);
    }
  });

  it("needs a name in a posting but not in a recipe", () => {
    expect(resultOf("Recipe", { "@type": "Recipe", name: "R", image: "/r", author: { url: "/a" } })?.eligible).toBe(
      true,
    );
    const posting = { "@type": "DiscussionForumPosting", datePublished: "2026-01-01", text: "T" };
    expect(resultOf("Discussion forum", { ...posting, author: "Jane" })?.eligible).toBe(true);
    expect(resultOf("Discussion forum", { ...posting, author: { url: "/a" } })?.missing_required).toEqual([
      "author.name",
    ]);
  });
});

describe("entities are read in all their forms", () => {
  const microdata = (prefix: string) =>
    `<div itemscope itemtype="${prefix}Review"><b itemprop=author>Jane</b><p itemprop=itemReviewed itemscope itemtype="${prefix}Book">` +
    `<i itemprop=name>B</i></p><p itemprop=reviewRating itemscope itemtype="${prefix}Rating"><i itemprop=ratingValue>4</i></p></div>`;

  it.each(["http://schema.org/", "https://schema.org/", "https://www.schema.org/"])(
    "microdata with types of %s",
    (prefix) => {
      expect(resultsOf(microdata(prefix))).toMatchObject([{ feature: "Review snippet", eligible: true }]);
    },
  );

  it("RDFa", () => {
    const html =
      '<div vocab="https://schema.org/" typeof="Recipe"><b property="name">R</b><img property="image" src="/r.jpg">' +
      '<i property="author">Jane</i></div>';
    expect(resultsOf(html)).toMatchObject([{ feature: "Recipe", eligible: true }]);
    expect(resultsOf(html)[0]?.missing_recommended).not.toContain("author");
  });

  it("lists of types and full addresses of types", () => {
    expect(
      resultOf("LocalBusiness", { "@type": ["Thing", "http://schema.org/Bakery"], name: "B", address: "A" }),
    ).toMatchObject({ eligible: true });
    expect(resultOf("Product", { "@type": ["Product", "Car"], name: "C", offers: offer })).toMatchObject({
      eligible: true,
    });
    expect(resultOf("Product", { "@type": "Car", name: "C", offers: offer })).toBeUndefined();
    expect(resultOf("Software app", { "@type": "VideoGame", name: "G", aggregateRating: rating })).toBeUndefined();
  });

  it("an image as an address or as an entity with an address", () => {
    const image = (value: unknown) => resultOf("Movie", { "@type": "Movie", name: "M", image: value })?.eligible;
    expect(image({ "@type": "ImageObject", contentUrl: "/m.jpg" })).toBe(true);
    expect(image([{ "@type": "ImageObject", width: 5 }, "/m.jpg"])).toBe(true);
    expect(image({ "@type": "ImageObject", width: 5 })).toBe(false);
  });
});

describe("conditions of the tables", () => {
  it("a merchant listing needs a price above zero and ignores an AggregateOffer next to the offer", () => {
    const product = { "@type": "Product", name: "P", image: "/p.jpg" };
    expect(resultOf("Merchant listing", { ...product, offers: { ...offer, price: "0.00" } })?.missing_required).toEqual(
      ["offers.price or offers.priceSpecification.price above 0"],
    );
    const mixed = [offer, { "@type": "AggregateOffer", lowPrice: 1, priceCurrency: "EUR" }];
    expect(resultOf("Merchant listing", { ...product, offers: mixed })?.eligible).toBe(true);
    expect(resultOf("Merchant listing", { ...product, offers: mixed[1] })).toBeUndefined();
  });

  it("an event needs a physical location, also if it has an online location", () => {
    const event = { "@type": "Event", name: "E", startDate: "2026-01-01" };
    const online = { "@type": "VirtualLocation", url: "https://example.com" };
    expect(resultOf("Event", { ...event, location: online })?.missing_required).toEqual(["location.address"]);
    expect(resultOf("Event", { ...event, location: [online, { "@type": "Place", address: "A" }] })?.eligible).toBe(
      true,
    );
    expect(resultOf("Event", { ...event, location: "Sydney" })?.missing_required).toEqual(["location.address"]);
  });

  it("a remote job needs the places where applicants can live", () => {
    const job = {
      "@type": "JobPosting",
      title: "T",
      description: "D",
      datePosted: "2026-01-01",
      hiringOrganization: { name: "O" },
    };
    expect(
      resultOf("JobPosting", { ...job, jobLocationType: "TELECOMMUTE", applicantLocationRequirements: { name: "US" } })
        ?.eligible,
    ).toBe(true);
    expect(resultOf("JobPosting", { ...job, jobLocationType: "TELECOMMUTE" })?.missing_required).toEqual([
      "jobLocation or applicantLocationRequirements",
    ]);
  });

  it("a review must be about a type whose reviews are shown", () => {
    const review = { "@type": "Review", author: "A", reviewRating: { ratingValue: 4 } };
    expect(
      resultOf("Review snippet", { ...review, itemReviewed: { "@type": "Service", name: "S" } })?.missing_required,
    ).toEqual(["itemReviewed of a type that this feature supports"]);
  });

  it("a carousel needs two elements with a position and a type that carousels show", () => {
    const list = (elements: readonly JsonLdNode[]) =>
      resultOf("Carousel", { "@type": "ItemList", itemListElement: elements });
    expect(list([element({ position: 1, url: "/1" })])?.missing_required).toEqual(["itemListElement[1]"]);
    expect(list([element({ item: movie }), element({ position: 2, item: movie })])?.missing_required).toEqual([
      "itemListElement[0].position",
    ]);
    expect(list([element({ position: 1, item: { "@type": "WebPage", name: "x" } })])).toBeUndefined();
    expect(list([element({ position: 1, name: "x", url: "/x" })])).toBeUndefined();
  });

  it("a step of a recipe needs a text or nested steps", () => {
    const recipe = (recipeInstructions: unknown) =>
      resultOf("Recipe", { "@type": "Recipe", name: "R", image: "/r", recipeInstructions })?.missing_required;
    expect(recipe("Mix.")).toEqual([]);
    expect(
      recipe([
        { "@type": "HowToStep", text: "Mix." },
        { "@type": "HowToStep", name: "Bake" },
      ]),
    ).toEqual(["recipeInstructions[1].text or recipeInstructions[1].itemListElement"]);
  });
});
