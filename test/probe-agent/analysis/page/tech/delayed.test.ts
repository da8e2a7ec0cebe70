import { detect } from "#test/entry-points.ts";
import { describe, expect, it } from "vitest";

const RULES = {
  technologies: { Loaded: { scriptSrc: "//vendor\\.test/" }, Inline: { scripts: "\\bvendor\\.init\\(" } },
};

function found(html: string): string[] {
  return detect({ url: "https://a.test/", html }, RULES).map(({ name }) => name);
}

describe("scripts that a page runs later", () => {
  it.each([
    [
      "a consent tool's address",
      '<script type="text/plain" data-cookieconsent="statistics" data-src="//vendor.test/a.js">',
    ],
    ["an optimiser's address", '<script type="rocketlazyloadscript" data-rocket-src="//vendor.test/a.js">'],
    ["LiteSpeed's address", '<script type="litespeed/javascript" data-src="//vendor.test/a.js">'],
  ])("reads %s", (_, html) => {
    expect(found(`${html}</script>`)).toEqual(["Loaded"]);
  });

  it.each([
    ["after consent", 'type="text/plain" class="optanon-category-C0002"'],
    ["after consent, by a category", 'type="text/plain" data-category="analytics"'],
    ["by an optimiser", 'type="rocketlazyloadscript"'],
    ["by Rocket Loader", 'type="0123456789abcdef01234567-text/javascript"'],
    ["in a worker", 'type="text/partytown"'],
  ])("reads code that runs %s", (_, attributes) => {
    expect(found(`<script ${attributes}>vendor.init(1)</script>`)).toEqual(["Inline"]);
  });

  it.each(["text/plain", "text/template", "application/json", "application/ld+json"])(
    "ignores text of the type %s",
    (type) => {
      expect(found(`<script type="${type}">vendor.init(1)</script>`)).toEqual([]);
    },
  );
});
