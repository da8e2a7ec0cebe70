import { describe, expect, it } from "vitest";
import { matchesMedia, pixels } from "#probe-agent/analysis/page/page-resources/media-query.ts";
import { chooseCandidate, parseSrcset } from "#probe-agent/analysis/page/page-resources/srcset.ts";
import { styleReferences } from "#probe-agent/analysis/page/page-resources/style-references.ts";

const SCREEN = { width: 1350, height: 940 };

describe("a media query", () => {
  it.each([
    ["", true],
    ["all", true],
    ["screen", true],
    ["SCREEN", true],
    ["print", false],
    ["not print", true],
    ["not all", false],
    ["only screen", true],
    ["print, screen", true],
    ["speech, print", false],
    ["(min-width: 1350px)", true],
    ["(min-width: 1351px)", false],
    ["(max-width:1350px)", true],
    ["(min-width: 84.375em)", true],
    ["(min-width: 85rem)", false],
    ["screen and (min-width: 100px) and (max-width: 2000px)", true],
    ["screen and (min-width: 100px) and (max-width: 200px)", false],
    ["not screen and (max-width: 200px)", true],
    ["(width >= 600px)", true],
    ["(width < 1350px)", false],
    ["(600px <= width < 1400px)", true],
    ["(1400px < width)", false],
    ["(orientation: landscape)", true],
    ["(orientation: portrait)", false],
    ["(prefers-color-scheme: dark)", false],
    ["(prefers-color-scheme: light)", true],
    ["(prefers-reduced-motion: no-preference)", true],
    ["(hover: hover)", true],
    ["(color)", true],
    ["(min-width: 100vw)", false],
    ["(unknown: 1)", false],
    ["(min-width: 1px", false],
    ["(min-width: 1px) or (print)", false],
    ["(constructor: 1)", false],
  ])("%j: %s", (list, expected) => {
    expect(matchesMedia(list, SCREEN)).toBe(expected);
  });

  it("accepts lengths in px, em and rem, and 0 without a unit", () => {
    expect(["10px", ".5em", "2rem", "0", "5", "10%", "-1px", "1e3px"].map(pixels)).toEqual([
      10,
      8,
      32,
      0,
      null,
      null,
      null,
      null,
    ]);
  });
});

describe("a srcset", () => {
  const parse = (srcset: string, sizes: string | null = null) =>
    parseSrcset(srcset, sizes, SCREEN).map(({ address, density }) => `${address} ${Math.round(density * 100) / 100}`);

  it("is parsed by the algorithm of the HTML standard", () => {
    expect(parse("a.png")).toEqual(["a.png 1"]);
    expect(parse("a.png, b.png 2x")).toEqual(["a.png 1", "b.png 2"]);
    expect(parse(" , a.png 1.5x ,, b.png 3x, ")).toEqual(["a.png 1.5", "b.png 3"]);
    expect(parse("a,b.png 2x")).toEqual(["a,b.png 2"]);
    expect(parse("data:,a 1x, b 2x")).toEqual(["data:,a 1", "b 2"]);
    expect(parse("a (x,y) 2x, b 3x")).toEqual(["b 3"]);
    expect(parse("a 1q, b -1x, c x, d 2x")).toEqual(["d 2"]);
    expect(parse("a 675w, b 2700w 100h")).toEqual(["a 0.5", "b 2"]);
    expect(parse("a 300w", "(max-width: 10px) 1px, 50vw")).toEqual(["a 0.44"]);
    expect(parse("a 300w", "calc(100% - 1px)")).toEqual(["a 0.22"]);
  });

  it("loads the candidate of the lowest density of at least 1, else of the highest", () => {
    const choose = (srcset: string) => chooseCandidate(parseSrcset(srcset, null, SCREEN));
    expect(choose("a 3x, b 1x, c 2x")).toBe("b");
    expect(choose("a 100w, b 200w")).toBe("b");
    expect(choose("")).toBeNull();
  });
});

describe("a style sheet's text", () => {
  const read = (css: string) =>
    styleReferences(css).map(({ kind, address, media }) => `${kind} ${address} ${media}`.trim());

  it("references imports with their conditions, fonts and images", () => {
    expect(read('@import url("a.css") layer(base) supports(display: grid) screen and (min-width: 1px);')).toEqual([
      "import a.css screen and (min-width: 1px)",
    ]);
    expect(read("@import 'b.css';@IMPORT url(c.css) print;")).toEqual(["import b.css", "import c.css print"]);
    expect(read("a{background:url( 'x y.png' )}b{mask:URL(z.svg#m)}")).toEqual(["image x y.png", "image z.svg#m"]);
  });

  it("references only the first source of each font face", () => {
    expect(
      read("@font-face{src:local(x),url(a.woff2),url(a.woff)}@font-face{src:url(b.woff2)}p{cursor:url(c.cur)}"),
    ).toEqual(["font a.woff2", "font b.woff2", "image c.cur"]);
  });

  it("skips the file for Internet Explorer that is listed first in old font faces", () => {
    const old =
      "src:url(a.eot);src:url('a.eot?#iefix') format('embedded-opentype'),url(a.woff2) format('woff2'),url(a.ttf)";
    expect(read(`@font-face{${old}}@font-face{src:url(only.EOT)}p{background:url(b.png)}`)).toEqual([
      "font a.woff2",
      "image b.png",
    ]);
  });

  it("references every source of each font face with `allFonts`, and never a namespace", () => {
    const css =
      "@namespace svg url(http://www.w3.org/2000/svg);@font-face{src:url(a);src:local(x),url(b)}p{cursor:url(c)}";
    expect(styleReferences(css, true).map(({ kind, address }) => `${kind} ${address}`)).toEqual([
      "font a",
      "font b",
      "image c",
    ]);
  });

  it("references nothing in comments, closed or not", () => {
    expect(read("/* url(a) */p{background:url(b)}/* url(c)")).toEqual(["image b"]);
  });
});
