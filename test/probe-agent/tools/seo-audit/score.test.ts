import { describe, expect, it } from "vitest";
import { SEO_CHECKS, type SeoCheckResult, scoreResults } from "#probe-agent/tools/seo-audit/checks.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import { audit, readFacts, snapshot, statusOf, type SeoSnapshot } from "#test/probe-agent/tools/seo-audit/snapshot.ts";

const indexable = (over: Parameters<typeof snapshot>[0]) => readFacts(snapshot(over)).indexable;

describe("the score", () => {
  it("is 100 if nothing needs correction, with Lighthouse's weights", () => {
    const { score, grade, checks } = audit();
    expect(checks.filter(({ status }) => status !== "pass")).toEqual([]);
    expect([score, grade]).toEqual([100, "A+"]);
    const weights = Object.fromEntries(checks.map(({ id, weight }) => [id, weight]));
    const unit = 80 / (93 / 23 + 9);
    expect(weights["is-crawlable"]).toBeCloseTo((93 / 23) * unit, 2);
    expect(weights["document-title"]).toBeCloseTo(unit, 2);
    expect(weights["lang"]).toBe(2);
  });

  it("adds up, is monotone, and redistributes the weight of checks that do not apply (1000 random audits)", () => {
    let seed = 7;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 1000; round += 1) {
      const findings: SeoCheckResult[] = SEO_CHECKS.map(() =>
        random() < 0.2 ? null : { pass: random() < 0.6, value: null },
      );
      if (findings.every((finding) => finding === null)) continue;
      const { score, checks } = scoreResults(findings);
      expect(checks.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(100, 0);
      const earned = checks.reduce((sum, { weight, status }) => sum + (status === "pass" ? weight : 0), 0);
      expect(Math.abs(score - earned)).toBeLessThan(1);
      for (const [index, finding] of findings.entries()) {
        if (finding?.pass !== false) continue;
        const corrected = findings.with(index, { pass: true, value: null });
        expect(scoreResults(corrected).score).toBeGreaterThanOrEqual(score);
      }
    }
  });

  it("has a recommendation only for checks that fail", () => {
    for (const { status, recommendation } of audit({ html: "<p>x" }).checks) {
      expect(recommendation !== null).toBe(status === "fail");
    }
  });

  it("leaves out the checks that need HTML if the response is not HTML", () => {
    const { checks } = audit({ page: null });
    expect(checks.filter(({ status }) => status !== "na").map(({ id }) => id)).toEqual([
      "is-crawlable",
      "http-status-code",
      "robots-txt",
      "sitemap",
      "https",
    ]);
  });
});

describe("indexing of a page", () => {
  const rules = (text: string | null, status = 200) => ({ robots: { known: true as const, status, text } });
  it.each<[over: Parameters<typeof snapshot>[0], by: object | null]>([
    [{ status: 404 }, { source: "http_status", rule: "status 404" }],
    [{ html: "<meta name=robots content=noindex>" }, { source: "meta_robots", user_agent: "*" }],
    [
      { headers: [["x-robots-tag", "unavailable_after: 1 Jan 2020 00:00:00 GMT"]] },
      { source: "x_robots_tag", rule: "unavailable_after 2020-01-01T00:00:00.000Z" },
    ],
    [rules("User-agent: *\nDisallow: /pa"), { source: "robots_txt", user_agent: "*", rule: "Disallow: /pa (line 2)" }],
    [rules(null, 503), {}],
    [rules(null, 404), null],
    [{}, null],
  ])("is forbidden by any of status, robots.txt, meta element and header: %j by %j", (over, by) => {
    expect(indexable(over)).toMatchObject({ value: by === null, blocked_by: by === null ? [] : [by] });
  });
  it("can differ by crawler", () => {
    const bing = indexable({ headers: [["X-Robots-Tag", "bingbot: noindex"]] });
    expect(bing.value).toBe(true);
    expect(bing.crawlers).toEqual([
      { crawler: "*", indexable: true },
      { crawler: "Googlebot", indexable: true },
      { crawler: "Bingbot", indexable: false },
      { crawler: "DuckDuckBot", indexable: true },
      { crawler: "YandexBot", indexable: true },
      { crawler: "Baiduspider", indexable: true },
      { crawler: "Applebot", indexable: true },
    ]);
    expect(bing.blocked_by).toEqual([{ source: "x_robots_tag", user_agent: "bingbot", rule: "noindex" }]);
    expect(indexable({ html: "<meta name=googlebot content=none>" })).toMatchObject({
      value: true,
      blocked_by: [{ source: "meta_robots", user_agent: "googlebot", rule: "none" }],
    });
  });
  const blockedBy = (text: string, over: Parameters<typeof snapshot>[0] = {}) => {
    const { value, crawlers } = indexable({ robots: { known: true, status: 200, text }, ...over });
    return [value, crawlers.filter((one) => one.indexable === false).map(({ crawler }) => crawler)];
  };
  it("is allowed if robots.txt allows one search crawler, and the blocked crawlers are listed", () => {
    const banned = "User-agent: *\nDisallow: /\n\n";
    expect(blockedBy(banned)).toEqual([
      false,
      ["*", "Googlebot", "Bingbot", "DuckDuckBot", "YandexBot", "Baiduspider", "Applebot"],
    ]);
    const others = ["*", "DuckDuckBot", "YandexBot", "Baiduspider"];
    expect(blockedBy(`${banned}User-agent: Googlebot\nUser-agent: bingbot\nDisallow:\n`)).toEqual([true, others]);
    expect(blockedBy(`User-agent: Googlebot\nUser-agent: bingbot\nAllow: /\n\n${banned}`)).toEqual([true, others]);
    expect(blockedBy("User-agent: Googlebot\nDisallow: /\n")).toEqual([true, ["Googlebot", "Applebot"]]);
    const robots = { known: true as const, status: 200, text: `${banned}User-agent: Googlebot\nAllow: /\n` };
    const check = audit({ robots }).checks.find(({ id }) => id === "is-crawlable");
    expect(check).toMatchObject({
      status: "pass",
      value: "blocked: *, Bingbot, DuckDuckBot, YandexBot, Baiduspider (robots_txt: Disallow: / (line 2))",
    });
  });
  it("depends on the tokens that the operator of each crawler documents", () => {
    const banned = "User-agent: *\nDisallow: /\n\n";
    const all = ["*", "Googlebot", "Bingbot", "DuckDuckBot", "YandexBot", "Baiduspider", "Applebot"];
    const without = (...names: string[]) => all.filter((name) => !names.includes(name));
    expect(blockedBy(`${banned}User-agent: Yandex\nAllow: /\n`)).toEqual([true, without("YandexBot")]);
    expect(blockedBy("User-agent: Yandex\nDisallow: /\n\nUser-agent: YandexBot\nAllow: /\n")).toEqual([true, []]);
    expect(blockedBy(`${banned}User-agent: Googlebot\nAllow: /\n\nUser-agent: Applebot\nDisallow: /\n`)).toEqual([
      true,
      without("Googlebot"),
    ]);
  });
  it("is forbidden if every crawler is blocked by some rule", () => {
    const text = "User-agent: *\nDisallow: /\n\nUser-agent: Bingbot\nAllow: /\n";
    expect(blockedBy(text, { headers: [["X-Robots-Tag", "bingbot: noindex"]] })[0]).toBe(false);
  });
  it("is unknown without robots.txt, unless another rule forbids it", () => {
    const robots = unknown("/robots.txt could not be fetched.");
    expect(indexable({ robots }).value).toBeNull();
    expect(indexable({ robots, status: 500 }).value).toBe(false);
    expect(statusOf({ robots }, "is-crawlable")).toBe("na");
    expect(statusOf({ robots }, "robots-txt")).toBe("na");
  });
});

describe("canonical addresses", () => {
  const canonical = (links: string, over: Partial<SeoSnapshot> = {}) => {
    const facts = readFacts(snapshot({ html: `<head>${links}</head><body>`, ...over }));
    const issues = [...facts.canonicalFaults.map(({ message }) => message), ...facts.canonicalUnscripted];
    return { ...facts.canonical, issues };
  };
  const to = (href: string) => `<link rel=canonical href=${href}>`;
  const NONE = { url: null, self: null };
  it.each<[links: string, expected: object, issue?: string | RegExp]>([
    [to("https://example.com/page#x"), { self: true }],
    ["", { url: null, source: null, named: [], self: null }],
    [to("/page"), { self: true }, "The canonical address /page is relative."],
    [to("https://example.com/a") + to("https://example.com/b"), NONE, /2 different canonical addresses/],
    [to("https://example.com/"), {}, "The canonical address is the home page, not this page."],
    [to("https://other.test/page"), {}],
    [to("'http://[bad'"), {}, 'The canonical address "http://[bad" is not a URL.'],
    [to("''"), NONE, 'The canonical address "" is not a URL.'],
    [
      `</head><body>${to("https://example.com/page")}`,
      { url: null },
      "A canonical link is in the body, so search engines ignore it.",
    ],
    [
      `${to("https://example.com/de")}<link rel=alternate hreflang=de href=https://example.com/de>` +
        "<link rel=alternate hreflang=en href=https://example.com/page>",
      {},
      "The canonical address is a version of this page in another language that hreflang lists.",
    ],
  ])("that are not the page itself have an issue, except those on another host: %s", (links, expected, issue) => {
    const found = canonical(links);
    expect(found).toMatchObject(expected);
    expect(found.issues).toEqual(
      issue === undefined ? [] : [typeof issue === "string" ? issue : (expect.stringMatching(issue) as string)],
    );
  });
  it("can be in a header", () => {
    const headers: SeoSnapshot["headers"] = [["Link", '<https://example.com/page>; rel="canonical"']];
    expect(canonical("", { headers })).toMatchObject({ self: true, source: "http_header" });
  });
  it("in places where search engines do not read them are reported as ignored", () => {
    const link = "<link rel=canonical href=https://example.com/page>";
    const rows: readonly (readonly [string, string])[] = [
      [
        `<div></div>${link}`,
        "A canonical link follows <div> in line 1, which ends the head, so search engines ignore it.",
      ],
      [`text${link}`, "A canonical link follows text in line 1, which ends the head, so search engines ignore it."],
      [`<template>${link}</template>`, "A canonical link is inside <template>, so search engines ignore it."],
      [`<noscript>${link}</noscript>`, "A canonical link is inside <noscript>, so search engines ignore it."],
      [`</head><body>${link}`, "A canonical link is in the body, so search engines ignore it."],
      [
        `<svg>${link}</svg>`,
        "A canonical link follows <svg> in line 1, which ends the head, so search engines ignore it.",
      ],
      [link.replace(">", " media=print>"), "A canonical link has the attribute media, so search engines ignore it."],
    ];
    for (const [html, issue] of rows) {
      expect(canonical(html)).toEqual({ url: null, source: null, named: [], self: null, issues: [issue] });
      const page = `<head>${html}`;
      expect([statusOf({ html: page }, "canonical"), statusOf({ html: page }, "canonical-self")]).toEqual([
        "fail",
        "na",
      ]);
    }
    expect(canonical(`${link}<div></div>${link}`)).toMatchObject({
      self: true,
      issues: [/* the second */ expect.stringMatching(/<div>/) as unknown],
    });
    expect(
      canonical(`<div></div>${link}`, { headers: [["Link", "<https://example.com/page>; rel=canonical"]] }),
    ).toMatchObject({
      self: true,
      source: "http_header",
    });
    const scripts = `<head><noscript><img></noscript>${link}</head><body>`;
    expect(canonical(`<noscript><img></noscript>${link}`).issues).toEqual([
      "A canonical link follows <img> inside <noscript> in line 1, which ends the head, so crawlers that run no scripts ignore it.",
    ]);
    expect(statusOf({ html: scripts }, "canonical")).toBe("pass");
  });
  it("on another host pass Lighthouse's check and fail our own", () => {
    const html = "<head><link rel=canonical href=https://other.test/page>";
    expect([statusOf({ html }, "canonical"), statusOf({ html }, "canonical-self")]).toEqual(["pass", "fail"]);
    expect([statusOf({ html: "<p>" }, "canonical"), statusOf({ html: "<p>" }, "canonical-self")]).toEqual([
      "na",
      "fail",
    ]);
  });
});

it("hreflang links are checked one by one and as a group", () => {
  const { hreflang } = readFacts(
    snapshot({
      html: "<head><link rel=alternate hreflang=en-UK href=https://example.com/uk><link rel=alternate hreflang=de href=/de><link rel=alternate hreflang=de href=/de2><link rel=alternate hreflang=x-default href=https://example.com/>",
      headers: [["link", "<https://example.com/fr>; rel=alternate; hreflang=fr"]],
    }),
  );
  expect(hreflang.versions.map(({ lang, source, fault }) => [lang, source, fault])).toEqual([
    ["fr", "http_header", null],
    ["en-UK", "html", "no such country: UK"],
    ["de", "html", "its address is relative"],
    ["de", "html", "its address is relative"],
    ["x-default", "html", null],
  ]);
  expect(hreflang).toMatchObject({ x_default: true, self_reference: false, valid: false });
  expect(hreflang.ambiguous).toEqual(["de"]);
});

it("hreflang in the body is reported as ignored, and so is a description in the body", () => {
  const html =
    "<head><title>A title that fits</title></head><body><link rel=alternate hreflang=de href=https://example.com/de>" +
    "<meta name=description content='A description that is long enough but that nobody reads where it is.'>";
  const { hreflang, meta_description: description } = readFacts(snapshot({ html }));
  expect(hreflang).toMatchObject({ total: 0, ignored: 1, ignoredWhy: "is in the body", valid: false });
  expect(description).toBeNull();
  const { checks } = audit({ html });
  const valueOf = (id: string) => checks.find((check) => check.id === id);
  expect(valueOf("hreflang")).toMatchObject({ status: "fail", value: "1 links that search engines ignore" });
  expect(valueOf("meta-description")).toMatchObject({
    status: "fail",
    value: "in the body, where search engines ignore it",
  });
});

it("headings, images and links are read as in Lighthouse", () => {
  const facts = readFacts(
    snapshot({
      html:
        "<html lang=en><h1>One</h1><h3>Three <b>x</b></h3><h2><img alt=Pic></h2><img src=a><img src=b alt=''><img src=c role=presentation><img src=d title=t>" +
        "<a href=/x>click here</a><a href=/y rel=nofollow>here</a><a href=#top>here</a><a href=/page>more</a><a href=https://other.test/>Other</a>" +
        "<a href='javascript:void(0)'>js</a><a href=''>empty</a><a id=anchor></a><a name=old></a><a href=mailto:x@y.test>here</a>" +
        "<a onclick=go()>click</a><a>placeholder</a><a href=file:///x>f</a><a href='javascript:void(0)' role=button>b</a><a href='http://[bad'>b</a>" +
        "<a href=/z aria-label='Prices of 2026'>more</a>",
    }),
  );
  expect(facts.headings).toEqual({
    counts: [1, 1, 1, 0, 0, 0],
    texts: [
      { level: 1, text: "One" },
      { level: 3, text: "Three x" },
      { level: 2, text: "Pic" },
    ],
    outline_ok: false,
  });
  expect(facts.images).toMatchObject({ total: 5, decorative: 1, missing_alt: [{ src: "a", line: 1 }] });
  expect(facts.links).toMatchObject({ total: 16, internal: 5, external: 1, nofollow: 1, non_descriptive_total: 1 });
  expect(facts.links?.uncrawlable.map(({ text }) => text)).toEqual(["js", "empty", "click", "f", "b"]);
});

it("hidden images need no alternative text", () => {
  const html =
    "<img src=a aria-hidden=true><div aria-hidden=true><p><img src=b><img src=c></p></div><span hidden><img src=d></span>" +
    "<img src=e style='border:0; display:none'><div style='visibility: hidden'><img src=f></div>" +
    "<div aria-hidden=false><img src=shown></div>";
  const { images } = readFacts(snapshot({ html }));
  expect(images?.total).toBe(7);
  expect(images?.missing_alt.map(({ src }) => src)).toEqual(["shown"]);
});

it("the check of robots.txt depends on its lines", () => {
  const status = (text: string | null, code = 200) =>
    statusOf({ robots: { known: true, status: code, text } }, "robots-txt");
  expect(status("User-agent: *\nCrawl-delay: 1\nDisallow:")).toBe("pass");
  expect(status("User-agent: *\nthis is no line at all")).toBe("fail");
  expect(status("User-agent: *\nDisallow: private")).toBe("fail");
  expect(status("User-agent: *\nDisallow: /private\nSitemap: /map.xml")).toBe("fail");
  expect(status("Disallow: /private\nUser-agent: *\nDisallow: *.gif$")).toBe("fail");
  expect(status(null)).toBe("fail");
  // A server error blocks every crawler. The check is-crawlable reports it.
  expect(status(null, 500)).toBe("na");
  expect(statusOf({ robots: { known: true, status: 500, text: null } }, "is-crawlable")).toBe("fail");
  expect(status(null, 404)).toBe("na");
  expect(status("")).toBe("na");
});
