import { describe, expect, it } from "vitest";
import { audit, GOOD, type snapshot } from "#test/probe-agent/tools/seo-audit/snapshot.ts";

describe("a fault fails exactly one check", () => {
  const without = (part: RegExp) => ({ html: GOOD.replace(part, "") });
  const robots = (status: number, text: string | null) => ({ robots: { known: true as const, status, text } });
  const rows: readonly (readonly [string, Parameters<typeof snapshot>[0], string])[] = [
    ["no title", without(/<title>.*?<\/title>/), "document-title"],
    ["an empty title", { html: GOOD.replace(/<title>.*?</, "<title><") }, "document-title"],
    ["a title too short", { html: GOOD.replace(/<title>.*?</, "<title>x<") }, "title-length"],
    ["no description", without(/<meta name="description"[^>]*>/), "meta-description"],
    ["a description too short", { html: GOOD.replace(/content="A desc[^"]*"/, 'content="x"') }, "description-length"],
    ["no viewport", without(/<meta name="viewport"[^>]*>/), "viewport"],
    ["no language", without(/ lang="en"/), "lang"],
    ["no canonical address", without(/<link rel="canonical"[^>]*>/), "canonical-self"],
    [
      "a relative canonical address",
      { html: GOOD.replace('canonical" href="https://example.com/page', 'canonical" href="/page') },
      "canonical",
    ],
    [
      "a canonical address that is not a URL",
      { html: GOOD.replace('canonical" href="https://example.com/page', 'canonical" href="http://[') },
      "canonical",
    ],
    [
      "a canonical address on another host",
      { html: GOOD.replace('canonical" href="https://example.com', 'canonical" href="https://o.test') },
      "canonical-self",
    ],
    [
      "the home page as canonical address",
      { html: GOOD.replace('canonical" href="https://example.com/page', 'canonical" href="https://example.com/') },
      "canonical",
    ],
    [
      "two different canonical addresses",
      { html: GOOD.replace("</head>", "<link rel=canonical href=https://example.com/b></head>") },
      "canonical",
    ],
    ["no main heading", without(/<h1>.*?<\/h1>/), "single-h1"],
    ["two main headings", { html: GOOD.replace("<h1>", "<h1>Other</h1><h1>") }, "single-h1"],
    ["no og:image", without(/<meta property="og:image"[^>]*>/), "open-graph"],
    ["no structured data", without(/<script.*?<\/script>/), "structured-data"],
    ["an image without alt", without(/ alt="y"/), "image-alt"],
    ["a wrong hreflang", { html: GOOD.replace('hreflang="de"', 'hreflang="xx"') }, "hreflang"],
    ["an error page", { status: 404 }, "http-status-code"],
    ["noindex", { html: GOOD.replace("</head>", "<meta name=robots content=noindex></head>") }, "is-crawlable"],
    ["a robots.txt with a server error", robots(503, null), "is-crawlable"],
    ["a robots.txt that blocks all crawlers", robots(200, "User-agent: *\nDisallow: /\n"), "is-crawlable"],
    ["a robots.txt that is an HTML page", robots(200, null), "robots-txt"],
    [
      "no sitemap",
      {
        sitemap: {
          named: [],
          tried: { known: true, url: "https://example.com/sitemap.xml", status: 404, looksLikeSitemap: false },
        },
      },
      "sitemap",
    ],
  ];
  it.each(rows)("%s", (_, over, id) => {
    expect(
      audit(over)
        .checks.filter(({ status }) => status === "fail")
        .map((check) => check.id),
    ).toEqual([id]);
  });
});
