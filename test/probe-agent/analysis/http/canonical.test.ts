import { expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { readCanonical } from "#probe-agent/analysis/html/canonical.ts";

const PAGE = "https://example.com/page";
const LINK = "<link rel=canonical href=https://example.com/other>";
const read = (html: string, ...links: readonly string[]) =>
  readCanonical(
    links.map((value) => ["link", value] as const),
    readHtml(html),
    PAGE,
  );

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

it("a canonical address of the Link header counts too, resolved against the page (RFC 8288)", () => {
  const found = read("", '<other>; rel="next canonical"; title="a, b"');
  expect(found).toMatchObject({ url: "https://example.com/other", source: "header" });
  const again = read("<base href=/x/><link rel=canonical href=../p>", "</p>; rel=canonical");
  expect(again).toMatchObject({ url: "https://example.com/p", named: ["https://example.com/p"] });
  const other = { url: null, named: ["https://example.com/p", "https://example.com/q"] };
  expect(read("<link rel=canonical href=/q>", "</p>; rel=canonical")).toMatchObject(other);
});

it("a canonical address of another resource, of no web and without text is none", () => {
  expect(read("", '</p>; rel=canonical; anchor="/else"').url).toBeNull();
  expect(read("<link rel=canonical href='javascript:1'>")).toMatchObject({ url: null, named: [], unusable: 1 });
  expect(read("<link rel=canonical href=''>").named).toEqual([]);
});

it("canonical addresses are bounded", () => {
  const many = Array.from({ length: 5000 }, (_, n) => `<link rel=canonical href=/${n}>`).join("");
  expect(read(many)).toMatchObject({ url: null, named: expect.objectContaining({ length: 20 }) as unknown });
  expect(read(`<link rel=canonical href=/${"x".repeat(100_000)}>`)).toMatchObject({ url: null, named: [] });
});
