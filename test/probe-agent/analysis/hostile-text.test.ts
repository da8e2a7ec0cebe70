import { describe, expect, it } from "vitest";
import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { parseOptOut } from "#shared/internet/opt-out.ts";
import { isLinkItem } from "#probe-agent/tools/ai-check/llms-txt.ts";
import { isHtml } from "#probe-agent/analysis/html/read-page.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import { readTlsRpt } from "#probe-agent/analysis/mail/tls-rpt.ts";
import { parseSrcsetAddresses } from "#probe-agent/analysis/page/mixed-content.ts";
import { styleReferences } from "#probe-agent/analysis/page/page-resources/style-references.ts";
import { parseRobotsTags } from "#probe-agent/analysis/http/robots-tag.ts";
import { isNonDescriptive } from "#probe-agent/tools/seo-audit/content.ts";
import { parseWhois } from "#probe-agent/tools/whois/parse.ts";
import { findEmail } from "#probe-agent/analysis/registry/whois/registrar.ts";
import { hasNear } from "#probe-agent/analysis/registry/whois/verdict.ts";
import { splitNote } from "#probe-agent/analysis/registry/whois/note.ts";
import { parseNumberWhois } from "#probe-agent/tools/whois/number-resource.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

/** A WHOIS answer of 256 KB that repeats one line. */
function whois(line: string): string {
  const head = "Domain Name: example.com\n";
  return head + `${line}\n`.repeat(Math.floor((262_144 - head.length) / (line.length + 1)));
}

const TABS = "\t".repeat(900);
const octets = (text: string) => new TextEncoder().encode(text);

/** Texts that an expression with an ambiguous loop reads for minutes, or, the comments of a page, for ever. */
const READINGS: Readonly<Record<string, () => unknown>> = {
  "WHOIS: status with tabs": () => parseWhois(whois(`Domain Status: a${TABS}x`), "whois.example"),
  "WHOIS: key with tabs": () => parseWhois(whois(`Status${TABS}(${TABS}: x`), "whois.example"),
  "WHOIS: registrar with tabs": () => parseWhois(whois(`Registrar: a${TABS}[Tag = x`), "whois.example"),
  "WHOIS: range with tabs": () => parseNumberWhois(whois(`inetnum: a${TABS}x`), "whois.example"),
  "the start of a page": () => isHtml(null, octets(`<!--${"-><HEAD--><!--><!--\t".repeat(25)}-><HEAD`)),
  "srcset: parentheses that stay open": () => parseSrcsetAddresses("a (b ".repeat(400_000)),
  "TLSRPT: dots": () => readTlsRpt([`v=TLSRPTv1; rua=mailto:a@${"a.".repeat(100_000)}@`]),
  "a link's text": () => isNonDescriptive(`${"!".repeat(300_000)}a`, null),
  "a page of one line": () => {
    const lineOf = lineCounter(" ".repeat(5_000_000));
    for (let offset = 0; offset < 300_000; offset += 1) lineOf(offset);
  },
  "a run before the end": () => withoutTrailing(`${"/".repeat(1_000_000)}a`, (character) => character === "/"),
};

describe("text made to be slow is read within the time that jobs have", () => {
  it.each(Object.entries(READINGS))("%s", (_, read) => {
    const start = cpuTime();
    read();
    expect(cpuTime() - start).toBeLessThan(5_000);
  });
});

describe("hand-written readers", () => {
  it.each([
    ["- [a](https://a.example/)", true],
    ["* [a [b] c](/x_(y)): notes (z)", true],
    ["- [a](</a b>) notes", true],
    ["- [a](/b):notes", false],
    ["- [](/a)", false],
    ["- [a]()", false],
    ["- [a](/b c)", false],
    ["- [a [b [c]]](/d)", false],
    ["- [a](/b", false],
    ["- a", false],
  ])("of a link in a list: %s", (line, expected) => {
    expect(isLinkItem(line)).toBe(expected);
  });

  it.each([
    ["abuse@a.example", "abuse@a.example"],
    ["<abuse@a.example>, or b@c", "abuse@a.example"],
    ["@ a@b", "a@b"],
    [`${"x".repeat(80)}@a.example`, `${"x".repeat(64)}@a.example`],
    ["a@ b", null],
  ])("of a mail address: %s", (text, expected) => {
    expect(findEmail(text)).toBe(expected);
  });

  it.each([
    ["Example Ltd [Tag = EXAMPLE]", "[]", "Example Ltd"],
    ["Example Ltd [Tag = EXAMPLE]  ", "[]", "Example Ltd"],
    ["Example [x] Ltd", "[]", undefined],
    ["Example [Tag = x] [Tag = y]", "[]", "Example [Tag = x]"],
  ] as const)("of a remark at the end: %s", (text, brackets, expected) => {
    expect(splitNote(text, brackets)?.bare).toBe(expected);
  });

  it("of phrases near each other", () => {
    const near = { first: /\ba\b/g, within: 3, second: /\bb\b/g };
    expect(["a b", "a --b", "a c a b", "b a b"].map((text) => hasNear(text, near))).toEqual([true, true, true, true]);
    expect(["b a", "a ---- b", "a", "b", ""].map((text) => hasNear(text, near))).toEqual(Array(5).fill(false));
  });

  it("of the start of a page", () => {
    const html = ["<html>", " <!-- a --> <!DOCTYPE html>", "<!----><head>", "<!-- a -- b --><body>"];
    expect(html.map((text) => isHtml(null, octets(text)))).toEqual([true, true, true, true]);
    const other = ["<!-- a", "<!-- a --> text", "text <html>", "<htmlx>", ""];
    expect(other.map((text) => isHtml(null, octets(text)))).toEqual(Array(5).fill(false));
  });

  it("of a style sheet", () => {
    const css = `@IMPORT url( "a.css" ) supports((x)) screen; @import 'b.css'; @import ; @namespace url(n);
      @font-face { src: url(f.eot), url(f.woff2), url(g.woff) } p { background: URL( 'i.png' ) url("`;
    expect(styleReferences(css)).toEqual([
      { address: "a.css", kind: "import", media: ") screen" },
      { address: "b.css", kind: "import", media: "" },
      { address: "f.woff2", kind: "font", media: "" },
      { address: "i.png", kind: "image", media: "" },
    ]);
  });

  it("of lines", () => {
    expect([0, 1, 2, 3, 4, 9].map(lineCounter("a\n\nb\n"))).toEqual([1, 1, 2, 3, 3, 4]);
  });

  it("of X-Robots-Tag, opt-out lists and TLSRPT addresses", () => {
    expect(parseRobotsTags(["googlebot \t: noindex, max-snippet : 20"])).toEqual([
      { agent: "googlebot", directives: ["noindex", "max-snippet:20"] },
    ]);
    expect(parseOptOut("a.example # b # c\n# d\n")).toMatchObject({ ok: true, entries: 1 });
    const rua = "mailto:a@b.example,mailto:a@b,mailto:a@.b,https://c.example/d,https:///d";
    expect(readTlsRpt([`v=TLSRPTv1; rua=${rua}`]).rua).toEqual(["mailto:a@b.example", "https://c.example/d"]);
  });
});
