import { describe, expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { headerDirectives, findIndexBan, metaDirectives } from "#probe-agent/tools/seo-audit/directives.ts";
import { languageFault } from "#probe-agent/tools/seo-audit/hreflang.ts";
import { isNonDescriptive } from "#probe-agent/tools/seo-audit/content.ts";
import { titleWidthPx } from "#probe-agent/tools/seo-audit/audit.ts";
import { checkUrl } from "#probe-agent/tools/seo-audit/url-hygiene.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const header = (...values: readonly string[]) =>
  headerDirectives(
    values.map((value) => ["X-Robots-Tag", value] as const),
    NOW,
  );

const brief = (tags: ReturnType<typeof headerDirectives>) =>
  tags.map(({ user_agent: agent, directives }) => `${agent} ${directives.join()}`);

describe("X-Robots-Tag (examples of Google's documentation)", () => {
  it("applies to all crawlers or to the crawler that it names", () => {
    expect(brief(header("noindex"))).toEqual(["* noindex"]);
    expect(brief(header("googlebot: nofollow", "otherbot: noindex, nofollow"))).toEqual([
      "googlebot nofollow",
      "otherbot noindex,nofollow",
    ]);
    const named = header("BadBot: noindex, nofollow, googlebot: nofollow");
    expect(named.map((one) => `${one.user_agent} ${findIndexBan(one)}`)).toEqual(["badbot noindex", "googlebot null"]);
    expect(header("max-snippet: 20, none").map(findIndexBan)).toEqual(["none"]);
  });

  const dates: readonly (readonly [string, string | null, boolean | null])[] = [
    ["25 Jun 2010 15:00:00 PST", "2010-06-25T23:00:00.000Z", true],
    ["Friday, 25-Jun-10 15:00:00 UTC", "2010-06-25T15:00:00.000Z", true],
    ["Wed, 31 Dec 2031 23:59:59 GMT", "2031-12-31T23:59:59.000Z", false],
    ["2026-11-21", "2026-11-21T00:00:00.000Z", true],
    ["2026-11-21T13:00:00+02:00", "2026-11-21T11:00:00.000Z", true],
    ["2026-11-21T13:00:00-0200", "2026-11-21T15:00:00.000Z", false],
    ["25 Jun 2040", "2040-06-25T00:00:00.000Z", false],
    ["25 Jun 2040 15:00 +0100", "2040-06-25T14:00:00.000Z", false],
    ["soon", null, null],
    ["2026-13-45", null, null],
  ];
  it.each(dates)("unavailable_after: %s", (date, iso, expired) => {
    const [one] = header(`unavailable_after: ${date}`);
    expect([one?.unavailable_after, one?.expired]).toEqual([iso, expired]);
    expect(one === undefined ? "" : findIndexBan(one)).toBe(expired === true ? "unavailable_after" : null);
  });
});

it("a robots meta element applies to all crawlers or to the crawler in its name", () => {
  const { facts } = readHtml(
    "<meta name=ROBOTS content='Index, Follow'><meta name=googlebot content='noindex,nosnippet'><meta name=author content=noindex>",
  );
  expect(brief(metaDirectives(facts, NOW))).toEqual(["* index,follow", "googlebot noindex,nosnippet"]);
});

describe("hreflang", () => {
  it.each(["en", "de-AT", "zh-Hant", "zh-Hant-HK", "x-default", "X-Default", "EN-gb", "haw", "sr-Latn-RS", "es-419"])(
    "accepts %s",
    (value) => {
      expect(languageFault(value)).toBeNull();
    },
  );
  it.each([
    ["en-UK", "no such country: UK"],
    ["en_US", "parts are joined by an underscore instead of a hyphen"],
    ["xx", "no such language: xx"],
    ["de-EU", "no such country: EU"],
    ["english", "no such language: english"],
    ["en-", "not a language tag (BCP 47)"],
    ["be-", "not a language tag (BCP 47)"],
  ])("rejects %s: %s", (value, issue) => {
    expect(languageFault(value)).toBe(issue);
  });
});

it("generic link texts are recognized in the language of the page", () => {
  for (const text of ["Click here", "READ MORE…", "learn more »", "https://example.com/x"])
    expect(isNonDescriptive(text, "en")).toBe(true);
  expect(isNonDescriptive("hier", "de")).toBe(true);
  expect(isNonDescriptive("hier", "fr")).toBe(false);
  expect(isNonDescriptive("hier", null)).toBe(true);
  expect(isNonDescriptive("続きを読む", "ja")).toBe(true);
  expect(isNonDescriptive("Our prices", null)).toBe(false);
});

it("the width of a title is the width of its characters in Arial", () => {
  expect(titleWidthPx("")).toBe(0);
  expect(titleWidthPx("iiii")).toBe(18);
  expect(titleWidthPx("WWWW")).toBe(76);
  expect(titleWidthPx("é")).toBe(titleWidthPx("e"));
  expect(titleWidthPx("日本")).toBe(40);
  expect(titleWidthPx("Ελλάδα")).toBeNull();
});

it("the faults of an address are listed", () => {
  expect(checkUrl("https://example.com/blog/seo-basics").faults).toEqual([]);
  const long = `https://example.com/%C3%A9%20/${"a".repeat(100)}`;
  expect(checkUrl(long).faults).toEqual(["url-too-long", "url-not-ascii", "url-white-space"]);
  const { hygiene, faults } = checkUrl("http://example.com/A_b//c/d/e/f/g?x=1&y=2&z=3&PHPSESSID=4&utm_source=5");
  expect(hygiene).toMatchObject({ parameters: 5, depth: 6, https: false });
  expect(faults).toEqual([
    "url-underscores",
    "url-capitals",
    "url-empty-segment",
    "url-many-parameters",
    "url-session",
    "url-tracking",
    "url-too-deep",
  ]);
  expect(checkUrl("https://example.com/%zz").faults).toEqual([]);
});
