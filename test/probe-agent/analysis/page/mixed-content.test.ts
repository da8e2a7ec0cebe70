import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readHtml, readPage } from "#probe-agent/analysis/html/read-page.ts";
import { findMixedContent, parseSrcsetAddresses } from "#probe-agent/analysis/page/mixed-content.ts";

const FIXTURE = readFileSync(new URL("../../../fixtures/html/page.html", import.meta.url));
const NO_POLICY = { upgradeInsecureRequests: false, blockAllMixedContent: false };

function find(html: string, url = "https://example.com/dir/", policy = NO_POLICY) {
  return findMixedContent(readHtml(html), url, policy);
}

describe("mixed content", () => {
  it("is found in every place of a page, with its line", () => {
    const found = findMixedContent(readPage(FIXTURE, "text/html"), "https://example.com/", NO_POLICY);
    expect(found.verdict).toBe("active");
    expect(found.active).toEqual([
      { tag: "script", attr: "src", url: "http://cdn.example.com/assets/app.js", line: 18 },
      { tag: "link", attr: "href", url: "http://cdn.example.com/a.css", line: 20 },
      { tag: "img", attr: "srcset", url: "http://img.example/a2.png", line: 25 },
      { tag: "style", attr: "text", url: "http://css.example/x.css", line: 29 },
      { tag: "source", attr: "srcset", url: "http://img.example/p.webp", line: 30 },
    ]);
    expect(found.passive.map((one) => [one.attr, one.url])).toEqual([
      ["href", "http://cdn.example.com/favicon.ico"],
      ["style", "http://img.example/bg.png"],
      ["src", "http://img.example/a.png"],
      ["text", "http://img.example/b.png"],
      ["src", "http://media.example/v.mp4"],
      ["poster", "http://img.example/v.png"],
    ]);
    expect(found.forms).toEqual([{ tag: "form", attr: "action", url: "http://forms.example/send", line: 28 }]);
  });

  it("is not found on an http page, nor if all references are secure", () => {
    expect(find("<script src=http://a.example/x.js>", "http://example.com/")).toMatchObject({
      https: false,
      verdict: "clean",
    });
    expect(find("<script src=//a.example/x.js></script><img src=/x.png><img src='https://b.example/'>").verdict).toBe(
      "clean",
    );
  });

  it("does not include addresses that browsers trust and elements that load nothing", () => {
    const html =
      "<script src=http://127.0.0.1:8080/x></script><img src='http://[::1]/'><img src=http://x.onion/><a href=http://a.example>";
    expect(find(`${html}<template><script src=http://a.example></script></template>`).verdict).toBe("clean");
  });

  it("is passive for images and media, and blocked under a blocking policy", () => {
    expect(find("<img src=http://a.example/x.png>").verdict).toBe("passive");
    expect(find("<input type=image src=http://a.example/x.png>").verdict).toBe("passive");
    expect(find("<svg><use href='http://a.example/x.svg#a'/></svg>").verdict).toBe("active");
    expect(find("<img src=http://a.example/>", undefined, { ...NO_POLICY, blockAllMixedContent: true }).verdict).toBe(
      "blocked",
    );
  });

  it("is not blocked if the policy upgrades all of it", () => {
    const policy = { upgradeInsecureRequests: true, blockAllMixedContent: true };
    const found = find("<script src=http://a.example/x.js></script><img src=http://192.0.2.1/x>", undefined, policy);
    expect(found).toMatchObject({ verdict: "passive", counts: { active: 1 }, passive: [{ upgradable: true }] });
  });

  it("lists references of style sheets and attributes a second time", () => {
    const found = find(
      "<style>@import 'http://c.example/a.css'; p { background: url(http://c.example/b.png) }</style>" +
        '<p style="background:url(http://c.example/c.png)"><img src=http://c.example/d.png>',
    );
    expect(found.cssUrls.map(({ tag, attr, url }) => `${tag} ${attr} ${url}`)).toEqual([
      "style text http://c.example/a.css",
      "style text http://c.example/b.png",
      "p style http://c.example/c.png",
    ]);
    expect(found.counts).toEqual({ active: 1, passive: 3, forms: 0, css: 3 });
  });

  it("distinguishes fonts from images by their rule, and ignores comments, namespaces and fragments", () => {
    const found = find(
      "<base href=http://c.example/><style>/* url(http://c.example/x) */@namespace svg url(http://www.w3.org/2000/svg);" +
        "@font-face{src:url(https://c.example/1.eot);src:local(F),url('http://c.example/2.woff') format('woff')," +
        " url(http://c.example/3.ttf)} p{fill:url(#gradient);background:url(http://c.example/4.png)}</style>",
    );
    expect(found.active.map(({ url }) => url)).toEqual(["http://c.example/2.woff", "http://c.example/3.ttf"]);
    expect(found.passive.map(({ url }) => url)).toEqual(["http://c.example/4.png"]);
  });

  it("is not upgradable if the host of an image is an IP address (W3C Mixed Content 4.1)", () => {
    const html = "<img src=http://a.example/x><img src=http://192.0.2.1/x><img src='http://[2001:db8::1]/x'>";
    expect(find(html).passive.map((one) => one.upgradable)).toEqual([true, false, false]);
  });

  it("reads the image set of a preload", () => {
    const html = "<link rel=preload as=image href=http://a.example/1.png imagesrcset='http://a.example/2.png 2x'>";
    const { active, passive } = find(html);
    expect([passive, active].map(([one]) => [one?.attr, one?.url])).toEqual([
      ["href", "http://a.example/1.png"],
      ["imagesrcset", "http://a.example/2.png"],
    ]);
  });

  it.each([
    ["preload as=video", "passive"],
    ["preload as=audio", "passive"],
    ["preload as=font", "active"],
    ["prefetch as=image", "active"],
    ["preconnect", "clean"],
  ])("grades a link with rel=%s as %s", (rel, verdict) => {
    expect(find(`<link rel=${rel} href=http://a.example/>`).verdict).toBe(verdict);
  });

  it("lists 100 references of a kind and counts the rest", () => {
    const found = find("<img src=http://a.example/x.png>".repeat(250));
    expect([found.passive.length, found.counts.passive]).toEqual([100, 250]);
  });
});

it("splits a srcset at commas outside addresses", () => {
  expect(parseSrcsetAddresses("a.png 1x, b,c.png 2x,d.png")).toEqual(["a.png", "b,c.png", "d.png"]);
  expect(parseSrcsetAddresses("a.png, http://b.example/b.png 2x")).toEqual(["a.png", "http://b.example/b.png"]);
  expect(parseSrcsetAddresses("data:image/png;base64,AA== 1x, b.png (x, y) 2w,")).toEqual([
    "data:image/png;base64,AA==",
    "b.png",
  ]);
});

it("stays fast with megabytes of styles and sources", () => {
  for (const html of ["@import ", "url(", "src: url( ", " "]) find(`<style>${html.repeat(500_000)}</style>`);
  for (const set of ["a ,", " ", "a (", ","]) find(`<img srcset='${set.repeat(1_000_000)}'>`);
  expect(find("<img srcset='http://a/ 1x'>\n".repeat(140_000)).counts.active).toBe(140_000);
});
