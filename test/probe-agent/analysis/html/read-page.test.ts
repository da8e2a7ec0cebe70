import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodePage, pageCharset } from "#probe-agent/analysis/html/charset.ts";
import { textOf, walkElements } from "#probe-agent/analysis/html/document.ts";
import { metaContent, metaPragmas } from "#probe-agent/analysis/html/page.ts";
import { isHtml, readHtml, readPage } from "#probe-agent/analysis/html/read-page.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");
const FIXTURE = readFileSync(new URL("../../../fixtures/html/page.html", import.meta.url));

describe("the encoding of a page", () => {
  const rows: readonly (readonly [body: string, type: string | null, encoding: string, source: string])[] = [
    ["\xEF\xBB\xBF<meta charset=koi8-r>", "text/html; charset=iso-8859-2", "utf-8", "bom"],
    ["\xFE\xFF\0a", null, "utf-16be", "bom"],
    ["\xFF\xFEa\0", null, "utf-16le", "bom"],
    ["<meta charset=koi8-r>", 'text/html; charset="ISO-8859-2"', "iso-8859-2", "header"],
    ["<meta charset=koi8-r>", "text/html; charset=nonsense", "koi8-r", "meta"],
    ["<meta charset='Shift_JIS'>", "text/html", "shift_jis", "meta"],
    ["<META name=x /><meta\thttp-equiv=Content-Type content='text/html; charset=euc-kr'>", null, "euc-kr", "meta"],
    ["<meta content='text/html; charset=euc-kr' http-equiv=\"content-type\">", null, "euc-kr", "meta"],
    ["<meta name=description content='charset=euc-kr'>", null, "utf-8", "guess"],
    ["<!-- <meta charset=euc-kr> --><meta charset=koi8-r>", null, "koi8-r", "meta"],
    ["<!--><meta charset=koi8-r>", null, "koi8-r", "meta"],
    ["<a title='<meta charset=euc-kr>'></a><meta charset=koi8-r>", null, "koi8-r", "meta"],
    ["<metadata charset=euc-kr>", null, "utf-8", "guess"],
    ["<meta charset=utf-16>", null, "utf-8", "meta"],
    ["<meta charset=latin1>", null, "windows-1252", "meta"],
    [`${" ".repeat(1010)}<meta charset=koi8-r>`, null, "koi8-r", "late_meta"],
    [`<title>${"x".repeat(1010)}<meta charset=koi8-r></title>`, null, "utf-8", "guess"],
    [`<script>${"x".repeat(1010)}"<meta charset=koi8-r>"</SCRIPT ><meta charset=big5>`, null, "big5", "late_meta"],
    ["<meta charset=nonsense><meta charset=big5>", null, "big5", "meta"],
    ["<meta charset=big5-hkscs>", null, "big5", "meta"],
    ["<meta charset=x-user-defined>", null, "windows-1252", "meta"],
    ["<meta charset=koi8-r>", "text/html; charset=hz-gb-2312", "replacement", "header"],
    ["<meta charset=koi8-r>", "text/html; charset=utf-16", "utf-16le", "header"],
    ["<?xml version='1.0' encoding='big5'?><html>", "application/xhtml+xml", "big5", "xml"],
    ["<?xml version='1.0' encoding = \"utf-16\"?>", null, "utf-8", "xml"],
    ["<?xml version='1.0' encoding='big5'?><meta charset=koi8-r>", null, "koi8-r", "meta"],
    [" <?xml version='1.0' encoding='big5'?>", null, "utf-8", "guess"],
    ["<?xml version='1.0' encoding='big 5'?>", null, "utf-8", "guess"],
    ["<\0?\0x\0m\0l\0", null, "utf-16le", "xml"],
    ["caf\xE9", "text/html", "windows-1252", "guess"],
    ["caf\xC3\xA9", "text/html", "utf-8", "guess"],
    ["", null, "utf-8", "guess"],
  ];
  for (const [body, type, encoding, source] of rows) {
    it(`is ${encoding} by ${source}: ${JSON.stringify(body.trim().slice(0, 60))}`, () => {
      expect(pageCharset(bytes(body), type)).toEqual({ encoding, source });
    });
  }
  it("decodes the page, and the byte order mark is removed", () => {
    expect(decodePage(bytes("\xEF\xBB\xBFa"), { encoding: "utf-8", source: "bom" })).toBe("a");
    expect(decodePage(bytes("\xC1"), { encoding: "koi8-r", source: "meta" })).toBe("а");
  });
});

describe("a page", () => {
  const page = readPage(FIXTURE, "text/html");
  it("has the facts of its head", () => {
    const { facts } = page;
    expect(facts).toMatchObject({
      doctype: "html",
      title: "A page & more",
      lang: "en-GB",
      baseHref: "http://cdn.example.com/assets/",
    });
    expect(metaContent(facts, "description")).toBe("What it is.");
    expect(metaPragmas(facts, "content-security-policy")).toEqual(["default-src 'self'"]);
    expect(facts.scripts.map((script) => [script.src, script.integrity, script.crossorigin])).toEqual([
      ["app.js", "sha384-abc", ""],
      [null, null, null],
    ]);
    expect(facts.links.map((link) => link.rel)).toEqual([["stylesheet", "preload"], ["icon"]]);
  });
  it("distinguishes a missing DOCTYPE, title and lang from empty ones", () => {
    expect(readHtml("text<!doctype html>").facts).toMatchObject({ doctype: null, title: null, lang: null });
    expect(readHtml("<!doctype><html lang><title></title>").facts).toMatchObject({ doctype: "", title: "", lang: "" });
  });
  it("is recognised by its Content-Type, or by its start if there is none", () => {
    expect(isHtml("Text/HTML;charset=x", bytes(""))).toBe(true);
    expect(isHtml("application/json", bytes("<html>"))).toBe(false);
    expect(isHtml(null, bytes("  <!-- x --> <!DOCTYPE html>"))).toBe(true);
    expect(isHtml(null, bytes("plain text"))).toBe(false);
  });
  it("can be walked without its inert elements", () => {
    const { root } = readHtml("<a><b>x</b><template><c></c></template></a><d></d>").document;
    expect([...walkElements(root)].map((one) => one.name)).toEqual(["a", "b", "template", "c", "d"]);
    expect([...walkElements(root, new Set(["template"]))].map((one) => one.name)).toEqual(["a", "b", "template", "d"]);
    const [first] = walkElements(readHtml("<p>one <b>two</b>\n three</p>").document.root);
    expect(first === undefined ? "" : textOf(first)).toBe("one two three");
  });
});

describe("hostile pages", () => {
  it("are flattened if they are nested too deep", () => {
    const { document } = readHtml(`${"<div>".repeat(100_000)}<p id=last>`);
    expect(document).toMatchObject({ flattened: true, truncated: false, elements: 100_001 });
    expect(document.depth).toBeLessThan(520);
    expect([...walkElements(document.root)].length).toBe(100_001);
  });
  it("are cut at 5 MiB and 300,000 nodes", () => {
    expect(readPage(Buffer.alloc(10_000_000, "<b>x</b>"), "text/html")).toMatchObject({ truncated: true });
    expect(readHtml("<b>".repeat(400_000)).document).toMatchObject({ truncated: true });
  });
  it("cost bounded time, whatever they repeat", () => {
    const repeats = [
      "<b></x>",
      "</p>",
      "<a b ",
      "<!---->",
      "&amp;",
      "<svg><title>",
      "<form>",
      "<select><option>",
      "<td>",
    ];
    for (const text of repeats) readHtml(text.repeat(Math.floor(5_000_000 / text.length)));
    readHtml("<b>".repeat(800_000) + "</x>".repeat(600_000));
    readHtml(`<a ${Array.from({ length: 400_000 }, (_, n) => `a${n}`).join(" ")}>`);
    const wide = readHtml(`<title>${"x<!---->".repeat(10)}</title><p>${"<i>t</i>".repeat(140_000)}</p>`);
    const paragraph = [...walkElements(wide.document.root)].find((one) => one.name === "p");
    expect(paragraph === undefined ? 0 : textOf(paragraph).length).toBe(10_000);
  });
});
