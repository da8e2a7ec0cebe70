import { expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { readCanonical } from "#probe-agent/analysis/html/canonical.ts";

const PAGE = "https://example.com/page";
const LINK = "<link rel=canonical href=https://example.com/other>";
const read = (html: string) => readCanonical([], readHtml(html), PAGE);

it("a canonical address counts only in the head of a page", () => {
  expect(read(`<head>${LINK}</head><body>`)).toMatchObject({ url: "https://example.com/other", source: "html" });
  const ignored = [
    `<head></head><body>${LINK}`,
    `<head><div></div>${LINK}</head><body>`,
    `<head>text ${LINK}</head><body>`,
    `<head><template>${LINK}</template></head><body>`,
    `<head><noscript>${LINK}</noscript></head><body>`,
    "<head><link rel=canonical href=/x media=print></head><body>",
  ];
  for (const html of ignored) expect(read(html)).toEqual({ url: null, source: null, named: [], unusable: 0 });
});
