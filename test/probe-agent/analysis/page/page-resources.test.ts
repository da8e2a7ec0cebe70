import { describe, expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { findResources } from "#probe-agent/analysis/page/page-resources.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const PAGE = "https://www.example.co.uk/dir/page?x=1";

const find = (html: string, links: readonly string[] = []) =>
  findResources(readHtml(html), PAGE, parseLinkHeader(links));
const found = (html: string) => find(html).resources.map(({ url, type }) => `${type} ${url}`);
const blocking = (html: string) =>
  find(html)
    .resources.filter(({ renderBlocking }) => renderBlocking)
    .map(({ url }) => new URL(url).pathname);

describe("the resources of a page", () => {
  it("are all static references, resolved against the page's base URL, each address once", () => {
    const html = `<!doctype html><base href="/assets/"><link rel=stylesheet href=a.css><link rel=icon href=/i.ico>
      <link rel=preload as=font href=f.woff2 crossorigin><link rel=modulepreload href=m.js><link rel=manifest href=app.json>
      <script src=a.js></script><script type=module src=m.js></script>
      <img src=a.png#part><img src="a.png"><input type=image src=b.gif><video poster=p.jpg src=v.mp4></video>
      <video autoplay src=auto.mp4></video><iframe src=//ads.example.net/frame></iframe><embed src=e.pdf><object data=o.svg></object>`;
    expect(found(html)).toEqual([
      "stylesheet https://www.example.co.uk/assets/a.css",
      "image https://www.example.co.uk/i.ico",
      "font https://www.example.co.uk/assets/f.woff2",
      "script https://www.example.co.uk/assets/m.js",
      "other https://www.example.co.uk/assets/app.json",
      "script https://www.example.co.uk/assets/a.js",
      "image https://www.example.co.uk/assets/a.png",
      "image https://www.example.co.uk/assets/b.gif",
      "image https://www.example.co.uk/assets/p.jpg",
      "media https://www.example.co.uk/assets/auto.mp4",
      "frame https://ads.example.net/frame",
      "other https://www.example.co.uk/assets/e.pdf",
      "other https://www.example.co.uk/assets/o.svg",
    ]);
  });

  it("leave out what browsers do not fetch", () => {
    const html = `<script nomodule src=old.js></script><script type="application/ld+json" src=data.js></script>
      <script type=importmap src=map.js></script><link rel="alternate stylesheet" href=other.css>
      <link rel=stylesheet disabled href=off.css><link rel=stylesheet type=text/less href=x.less><link rel=preload media=print as=style href=p.css>
      <link rel=dns-prefetch href=//x.example><link rel=canonical href=/c><a href=/link></a><audio src=a.mp3></audio>
      <template><img src=t.png></template><noscript><img src=n.png></noscript><!-- <img src=c.png> -->
      <iframe srcdoc="<p>" src=/never></iframe><img src="data:image/png;base64,AAAA"><img src=""><img>
      <script src="javascript:0"></script><img src="blob:https://a/b"><use href="#symbol"></use><img src="ftp://a.example/x">
      <img src="https://[bad/"><script src="?x=1#self"></script><script></script>`;
    expect(found(html)).toEqual([]);
  });

  it("include media with autoplay or preload=auto, by the first matching source", () => {
    const html = `<video autoplay muted loop><source src=hero.mov type=video/quicktime>
        <source src=phone.webm type=video/webm media="(max-width: 600px)"><source src="" type=video/mp4>
        <source src=hero.webm type='video/webm; codecs="vp9"'><source src=hero.mp4 type=video/mp4><track src=t.vtt></video>
      <video preload=auto src=early.mp4><source src=unused.mp4></video><audio preload=AUTO><source src=a.mp3></audio>
      <video preload=none autoplay src=plays.mp4></video><video preload=metadata><source src=later.mp4></video>
      <video><source src=later.mp4></video><video autoplay><source src=stream.m3u8 type=application/x-mpegurl></video>`;
    expect(found(html)).toEqual(
      ["hero.webm", "early.mp4", "a.mp3", "plays.mp4"].map((name) => `media https://www.example.co.uk/dir/${name}`),
    );
  });

  it("are of a third party if the registrable domain differs", () => {
    const html =
      "<img src=https://cdn.example.co.uk/a><img src=https://example.co.uk/b><img src=https://other.co.uk/c>";
    expect(find(html).resources.map(({ thirdParty }) => thirdParty)).toEqual([false, false, true]);
  });

  it("are lazy if no other reference loads them immediately", () => {
    const html =
      "<img loading=lazy src=a.png><img loading=LAZY src=b.png><img src=b.png><iframe loading=lazy src=/f></iframe>";
    expect(find(html).resources.map(({ url, lazy }) => [new URL(url).pathname, lazy])).toEqual([
      ["/dir/a.png", true],
      ["/dir/b.png", false],
      ["/f", true],
    ]);
  });

  it("include preloads of Link headers; hints are read from Link headers and HTML", () => {
    const headers = [
      '</h.woff2>; rel=preload; as=font, <https://cdn.example>; rel="preconnect dns-prefetch"',
      '</x>; rel=preload; anchor="/other"',
    ];
    const html = "<link rel=preconnect href=//fonts.example><link rel=preload as=image href=hero.avif>";
    const { resources, hints } = find(html, headers);
    expect(resources.map(({ url, element }) => [element, url])).toEqual([
      ["link header", "https://www.example.co.uk/h.woff2"],
      ["link", "https://www.example.co.uk/dir/hero.avif"],
    ]);
    expect(hints).toEqual([
      { url: "https://www.example.co.uk/h.woff2", rel: "preload", as: "font", from: "header" },
      { url: "https://cdn.example/", rel: "preconnect", as: null, from: "header" },
      { url: "https://fonts.example/", rel: "preconnect", as: null, from: "html" },
      { url: "https://www.example.co.uk/dir/hero.avif", rel: "preload", as: "image", from: "html" },
    ]);
  });

  it("include references of style elements and style attributes", () => {
    const html = `<style>@import "deep.css"; @font-face { src: url(one.woff2) format("woff2"), url(one.woff) } p { background: url('bg.png') }</style>
      <style media=print>p { background: url(print.png) }</style><p style="background:url(own.png)">`;
    expect(found(html)).toEqual([
      "stylesheet https://www.example.co.uk/dir/deep.css",
      "font https://www.example.co.uk/dir/one.woff2",
      "image https://www.example.co.uk/dir/bg.png",
      "image https://www.example.co.uk/dir/own.png",
    ]);
  });
});

describe("resources that block the first paint", () => {
  it("are scripts of the head without async, defer and module", () => {
    const html = `<head><script src=/sync.js></script><script async src=/async.js></script><script defer src=/defer.js></script>
      <script type=module src=/module.js></script><script async blocking=render src=/asked.js></script></head><body><script src=/body.js></script>`;
    expect(blocking(html)).toEqual(["/sync.js", "/asked.js"]);
  });

  it("are not scripts after the head, even if its end tag is left out", () => {
    expect(blocking("<title>x</title><script src=/a.js></script><p>text<script src=/b.js></script>")).toEqual([
      "/a.js",
    ]);
  });

  it("are style sheets whose media query matches, anywhere in the page", () => {
    const html = `<link rel=stylesheet href=/all.css><link rel=stylesheet media=print href=/print.css>
      <link rel=stylesheet media="(min-width: 800px)" href=/wide.css><link rel=stylesheet media="(max-width: 800px)" href=/narrow.css>
      <style>@import url(/import.css); @import "/print-import.css" print;</style><p><link rel=stylesheet href=/late.css>`;
    expect(blocking(html)).toEqual(["/all.css", "/wide.css", "/import.css", "/late.css"]);
  });

  it("include an address that was preloaded before", () => {
    expect(blocking("<link rel=preload as=style href=/a.css><link rel=stylesheet href=/a.css>")).toEqual(["/a.css"]);
  });
});

describe("responsive images", () => {
  it("count with the one candidate that a desktop loads", () => {
    const html = `<picture><source media="(max-width: 600px)" srcset=small.webp><source type=image/webp srcset="mid.webp 1x, big.webp 2x">
      <img src=fallback.jpg></picture><picture><source type=image/unknown srcset=x.unk><img src=plain.jpg></picture>
      <img src=no.jpg srcset="a-400.jpg 400w, a-1600.jpg 1600w, a-3000.jpg 3000w">
      <img srcset="b-400.jpg 400w, b-1600.jpg 1600w" sizes="(max-width: 700px) 100vw, 300px">
      <link rel=preload as=image imagesrcset="c-1.jpg 1x, c-2.jpg 2x" href=c.jpg>`;
    expect(found(html)).toEqual([
      "image https://www.example.co.uk/dir/mid.webp",
      "image https://www.example.co.uk/dir/plain.jpg",
      "image https://www.example.co.uk/dir/a-1600.jpg",
      "image https://www.example.co.uk/dir/b-400.jpg",
      "image https://www.example.co.uk/dir/c-1.jpg",
    ]);
  });

  it("are counted by format, size, laziness and srcset", () => {
    const html = `<img src=a.png width=1 height=1 loading=lazy><img src=b.webp><img src=c.jpg style="aspect-ratio:1;width:100%">
      <picture><source type=image/avif srcset=d.avif><img src=d.jpg width=1 height=1></picture><img src=logo.svg width=9 height=9><img src=/img?id=1><img>`;
    expect(find(html).images).toEqual({
      total: 6,
      lazy: 1,
      missing_dimensions: 2,
      modern_formats: 2,
      known_formats: 4,
      responsive: 1,
    });
  });
});

describe("a hostile page", () => {
  const quick = (html: string) => {
    const startedAt = cpuTime();
    const result = find(html);
    expect(cpuTime() - startedAt).toBeLessThan(15_000);
    return result;
  };

  it("is read within bounds: 150,000 images", () => {
    const html = Array.from({ length: 150_000 }, (_, n) => `<img src=/${n}.png>`).join("");
    const { resources, truncated } = quick(html);
    expect([resources.length, truncated]).toEqual([2000, true]);
  });

  it.each([
    ["comments that are not closed", `<style>${"/*a".repeat(160_000)}</style>`],
    ["url( without end", `<style>${"url(".repeat(120_000)}</style>`],
    ["@import without end", `<style>${"@import ".repeat(60_000)}</style>`],
    ["a srcset of commas", `<img srcset="${",".repeat(500_000)}">`],
    ["a srcset of parentheses", `<img srcset="a ${"(".repeat(500_000)}">`],
    ["sizes of spaces", `<img srcset="a 1w" sizes="${" x".repeat(250_000)}">`.repeat(5)],
    ["media of ands", `<link rel=stylesheet href=a media="${"and ".repeat(100_000)}">`.repeat(5)],
    ["a range without end", `<link rel=stylesheet href=a media="(${"1".repeat(100_000)}">`.repeat(20)],
    ["style attributes", `<p style="background:url(${"a".repeat(900)})">`.repeat(4000)],
    ["deep pictures", `${"<picture>".repeat(20_000)}<img srcset=a>`],
  ])("is read in time: %s", (_what, html) => {
    expect(quick(html).resources.length).toBeLessThanOrEqual(2000);
  });

  it("cannot use members of Object.prototype as elements or destinations", () => {
    expect(found("<constructor src=a></constructor><link rel=preload as=constructor href=b>")).toEqual([
      "other https://www.example.co.uk/dir/b",
    ]);
  });

  it("has no address in the result that is too long", () => {
    expect(found(`<img src=/${"a".repeat(3000)}>`)).toEqual([]);
  });
});
