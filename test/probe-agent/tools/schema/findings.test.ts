import { expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { structuredReport } from "#probe-agent/tools/schema/report.ts";
import { expectWellFormed } from "#test/support/findings.ts";

const findingsOf = (html: string) => structuredReport(readHtml(html), "https://example.com/").findings;
const jsonLd = (json: string) => findingsOf(`<script type="application/ld+json">${json}</script>`);
const product = (more: string) => jsonLd(`{"@context":"https://schema.org","@type":"Product","name":"x",${more}}`);

it.each([
  ["json-ld-fault", "warning", "strict JSON", jsonLd('{"@context":"https://schema.org","@type":"Thing",}')],
  ["json-ld-unreadable", "warning", "JSON parser", jsonLd('{"a": oops}')],
  ["microdata-fault", "warning", "itemscope", findingsOf('<div itemscope itemref="gone"></div>')],
  ["rdfa-fault", "warning", "vocab=", findingsOf("<p typeof=Person>")],
  ["context-missing", "warning", '"@context": "https://schema.org"', jsonLd('{"@type":"Thing"}')],
  ["type-missing", "warning", '"@type"', jsonLd('{"@context":"https://schema.org","name":"x"}')],
  ["invalid-value", "warning", "offers.price as a number", product('"offers":{"price":"1,5 €"}')],
  ["required-property-missing", "warning", "Add ", product('"offers":{"@type":"Offer"}')],
  ["recommended-property-missing", "info", "review", product('"offers":{"@type":"Offer","price":"1"}')],
] as const)("%s has the severity %s and advice that contains: %s", (id, severity, how, findings) => {
  const one = findings.find((finding) => finding.id === id);
  expect(one, JSON.stringify(findings)).toMatchObject({ severity });
  expect(one?.how).toContain(how);
  expectWellFormed(findings);
});

it.each([
  [
    '"offers":{"price":"12,50 €"}',
    'offers.price, "12,50 €", is not a number with a decimal point and no other sign, e.g. 12.50.',
  ],
  ['"offers":{"priceCurrency":"$"}', 'offers.priceCurrency, "$", is not a three-letter ISO 4217 code.'],
  ['"aggregateRating":{"ratingValue":7}', "aggregateRating.ratingValue, 7, is not a number up to bestRating (5)."],
])("the value in %s is invalid", (property, words) => {
  const where = `items[0].${words.split(",")[0]}`;
  const message = `The value of ${words}`;
  expect(product(property)).toContainEqual(expect.objectContaining({ id: "invalid-value", message, where }));
});

it("an item that is not eligible lacks a property of its feature", () => {
  const found = product('"offers":{"@type":"Offer","price":"1","priceCurrency":"EUR"}').map(({ message }) => message);
  expect(found).toContain("The item is not eligible for Merchant listing rich results: it lacks image.");
});

it("a rich result that has ended has no advice", () => {
  const [ended] = jsonLd('{"@context":"https://schema.org","@type":"FAQPage","mainEntity":[]}');
  expect(ended).toMatchObject({ id: "rich-result-ended", severity: "info", how: null, where: "items[0]" });
});

it("a page with many faults has a few findings and the number of those left out", () => {
  const { findings, limitations } = structuredReport(
    readHtml('<script type="application/ld+json">{"@type":"Thing",}</script>\n'.repeat(90)),
    "https://example.com/",
  );
  expect(findings).toHaveLength(20);
  expect(limitations.join()).toMatch(/more findings of the same kinds are not listed/);
});
