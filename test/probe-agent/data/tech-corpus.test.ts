import { describe, expect, it } from "vitest";
import { builtInRules, readCorpus, scorePages, seenOn } from "#test/support/tech-corpus.ts";

const pages = readCorpus();
const rules = builtInRules();
/**
 * Common technologies of shops, papers and blogs. Each must be found on every page that uses it, and on no other page.
 */
const COMMON = [
  "Adobe Fonts",
  "Bootstrap",
  "Chartbeat",
  "Disqus",
  "Font Awesome",
  "Foundation",
  "Google Analytics",
  "Google Publisher Tag",
  "Google Tag Manager",
  "jQuery",
  "Outbrain",
  "Parse.ly",
  "Quantcast Measure",
  "Swiper",
  "Taboola",
  "Video.js",
  "WordPress",
  "comScore",
  "reCAPTCHA",
];

describe("technologies on a corpus of labelled pages", () => {
  it("has at least 60 pages, a third of them held out, and look-alikes", () => {
    expect(pages.length).toBeGreaterThanOrEqual(60);
    const heldOut = pages.filter((page) => page.heldOut);
    expect(heldOut.length).toBeGreaterThanOrEqual(Math.floor(pages.length / 3));
    expect(pages.flatMap(({ never }) => never).length).toBeGreaterThan(100);
  });

  it.each([
    ["that the rules were written with", pages.filter(({ heldOut }) => !heldOut), 99, 99],
    ["that are held out", pages.filter(({ heldOut }) => heldOut), 97, 95],
  ])("are found on pages %s", (_, some, precision, recall) => {
    const score = scorePages(some, rules);
    expect(score.precision, score.wrong.join("\n")).toBeGreaterThanOrEqual(precision);
    expect(score.recall, score.missed.join("\n")).toBeGreaterThanOrEqual(recall);
    expect(score.wrongVersions.length, score.wrongVersions.join("\n")).toBeLessThanOrEqual(some.length / 10);
  });

  it.each(COMMON)("%s is found with its version on every page that uses it, and on no other page", (name) => {
    const { found, missed, wrong, wrongVersions } = scorePages(pages, rules, name);
    expect(found).toBeGreaterThan(0);
    expect({ missed, wrong, wrongVersions }).toEqual({ missed: [], wrong: [], wrongVersions: [] });
  });

  const tuned = pages.filter(({ heldOut }) => !heldOut);
  it.each(tuned.map((page) => [page.name, page] as const))("%s has exactly the technologies it uses", (_, page) => {
    expect(Object.fromEntries(seenOn(page, rules))).toEqual(Object.fromEntries(page.uses));
  });

  it("look-alikes are not detected as the technologies they resemble", () => {
    const taken = pages.flatMap((page) => {
      const seen = seenOn(page, rules);
      return page.never.filter((name) => seen.has(name)).map((name) => `${page.name}: ${name}`);
    });
    expect(taken).toEqual([]);
  });
});

describe("the table of evidence", () => {
  it("has no technology, except a site's CMS, that one weak sign is enough for", () => {
    const systems = new Set([1, 2, 4, 6, 8, 11, 21, 57]);
    const weak = rules.rules.filter(
      ({ categories, tests, least }) =>
        !categories.some((id) => systems.has(id)) && tests.some(({ pattern }) => pattern.confidence < 50) && least < 50,
    );
    expect(weak.map(({ name }) => name)).toEqual([]);
  });
});
