import { describe, expect, it } from "vitest";
import { readHeadLinks } from "#probe-agent/analysis/html/head-links.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";

const LINK = "<link rel=canonical href=/x>";

describe("the head of a page ends as in browsers (WHATWG HTML, 13.2.6.4)", () => {
  const rows: readonly (readonly [html: string, by: string | null, regular: boolean])[] = [
    ["<!doctype html><html><head><title>a<b></title><div></div></head><body>", "<div>", false],
    ["<head><img src=x></head>", "<img>", false],
    ["<HEAD><IFRAME></IFRAME></HEAD>", "<iframe>", false],
    ["<head><custom-element></custom-element>", "<custom-element>", false],
    ["<head><svg><title>x</title></svg>", "<svg>", false],
    ["<head>text<title>x</title>", "text", false],
    ["<head>\u{FEFF}<title>x</title>", "text", false],
    ["<head>&nbsp;<title>x</title>", "text", false],
    ["<head><meta>&#32;\n<link></head> <body>", "<body>", true],
    ["<title>x</title><p>", "<p>", false],
    ["<title>x</title><frameset>", "<frameset>", true],
    ["<head></head><link><style>p{}</style><p>", "<p>", false],
    ["<head></head><noscript></noscript><body>", "<noscript>", false],
    ["<head><noscript><img></noscript></head><body>", "<body>", true],
    ["<head></p></div></span><meta></head><body>", "<body>", true],
    ["<head></br><meta>", "</br>", false],
    ["<head><meta></body><p>", "</body>", true],
    ["<head><template><div><template></template></div></template><link></head><body>", "<body>", true],
    [
      "<head><script>document.write('<div>')</script><style><p></style><noframes><p></noframes></head><body>",
      "<body>",
      true,
    ],
    ["<head><!-- <div> --><?xml x?><![CDATA[x]]></head><body>", "<body>", true],
    ["<head><base><basefont><bgsound><link><meta><title></title></head><body>", "<body>", true],
    ["", null, true],
  ];
  it.each(rows)("%s", (html, by, regular) => {
    const { headEnd } = readHtml(html).document;
    expect(headEnd).toMatchObject({ by, regular });
    if (by?.startsWith("<") === true)
      expect(html.slice(headEnd.offset).toLowerCase().startsWith(by.slice(0, -1))).toBe(true);
  });

  it("at a noscript, for readers that run no scripts", () => {
    const without = (html: string) => readHtml(html).document.headEnd.withoutScripts?.by ?? null;
    expect(without("<head><noscript><img></noscript></head>")).toBe("<img>");
    expect(without("<head><noscript>Please</noscript></head>")).toBe("text");
    expect(without("<head><noscript><style>p{}</style> <link><meta><!-- x --></noscript></head>")).toBeNull();
    expect(without("<head></head><body><noscript><img></noscript>")).toBeNull();
  });

  it("in the same place, wherever the parser's input is split", () => {
    for (const pad of [16_360, 16_370, 16_380, 16_384]) {
      const html = `<head><!--${"x".repeat(pad)}--><meta><script>${"<p>".repeat(9000)}</script><div>${LINK}</head>`;
      expect(readHtml(html).document.headEnd).toMatchObject({ by: "<div>", offset: html.lastIndexOf("<div>") });
    }
  });
});

describe("links for the head", () => {
  const why = (html: string) => readHeadLinks(readHtml(html)).map(({ ignored }) => ignored);

  it.each([
    [`<head>${LINK}</head><body>`, null],
    [`<head></head>${LINK}<body>`, null],
    [`<head></head><body>${LINK}`, "is in the body"],
    [`<head>\n<div></div>\n${LINK}</head><body>`, "follows <div> in line 2, which ends the head"],
    [`<head><img src=x>${LINK}</head><body>`, "follows <img> in line 1, which ends the head"],
    [`<head>\n\noops ${LINK}</head><body>`, "follows text in line 3, which ends the head"],
    [`<head><template>${LINK}</template>`, "is inside <template>"],
    [`<head><template shadowrootmode=open>${LINK}</template>`, "is inside <template>"],
    [`<head><noscript>${LINK}</noscript>`, "is inside <noscript>"],
    [`<head><svg>${LINK}</svg>`, "follows <svg> in line 1, which ends the head"],
    ["<head><link rel=canonical href=/x media=print>", "has the attribute media"],
    ["<head><link rel=canonical href=/x hreflang=de>", "has the attribute hreflang"],
    ["<head><link rel=alternate href=/x hreflang=de>", null],
    ["<p><link rel=alternate href=/x hreflang=de>", "follows <p> in line 1, which ends the head"],
  ])("%s", (html, ignored) => {
    expect(why(html)).toEqual([ignored]);
  });

  it("are not read in comments, scripts and attributes", () => {
    expect(why(`<head><!-- ${LINK} --><script>"${LINK}"</script><meta content='${LINK}'>`)).toEqual([]);
  });

  it("are ignored only by readers without scripts after a noscript with an image", () => {
    const [link] = readHeadLinks(readHtml(`<head><noscript><img></noscript>${LINK}</head><body>`));
    expect(link).toMatchObject({
      ignored: null,
      ignoredWithoutScripts: "follows <img> inside <noscript> in line 1, which ends the head",
    });
  });
});
