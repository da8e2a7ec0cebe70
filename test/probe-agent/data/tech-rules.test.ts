import { detect } from "#test/entry-points.ts";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compileRules } from "#probe-agent/analysis/page/tech/compile.ts";
import { readConfig } from "#probe-agent/config.ts";
import { openData } from "#probe-agent/data/open.ts";
import { openTechRules } from "#probe-agent/data/tech-rules.ts";
import { MADE_PAGES } from "#test/support/tech-pages.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tech-rules-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  }
}

const CATEGORIES = { 1: { name: "CMS", groups: [3], priority: 1 } };

function builtIn() {
  const opened = openTechRules(null);
  if (!opened.ok) throw new Error(opened.line);
  return compileRules(opened.data);
}

describe("the built-in rules", () => {
  const rules = builtIn();

  it("are many and usable, and each names its site and a known category", () => {
    expect(rules.rules.length).toBeGreaterThan(150);
    expect(rules.unusable).toBe(0);
    const lacking = rules.rules.filter(
      ({ website, categories }) =>
        !URL.canParse(website ?? "") || categories.length === 0 || categories.some((id) => !rules.categories.has(id)),
    );
    expect(lacking.map(({ name }) => name)).toEqual([]);
    expect(new Set(rules.rules.map(({ slug }) => slug)).size).toBe(rules.rules.length);
  });

  it("do not detect WordPress from only a picture, which may belong to another site", () => {
    const confidence = (html: string) =>
      detect({ url: "https://a.example/", html }, rules).find(({ name }) => name === "WordPress")?.confidence;
    expect(confidence("<img src=https://blog.example/wp-content/uploads/a.jpg>")).toBe(50);
    expect(confidence("<link rel=stylesheet href=/wp-content/themes/a/style.css>")).toBe(100);
  });

  it("refer to each other by existing names", () => {
    const named = rules.rules.flatMap(({ implies, requires, excludes }) => [
      ...implies.map(({ name }) => name),
      ...requires,
      ...excludes,
    ]);
    expect(named.filter((name) => !rules.byName.has(name))).toEqual([]);
  });

  it("have well-formed CPEs (NISTIR 7695, section 6.2)", () => {
    const cpes = rules.rules.flatMap(({ cpe }) => (cpe === null ? [] : [cpe]));
    const form = /^cpe:2\.3:a(?::(?:[\w.*-]|\\[^\w\s])+){10}$/;
    expect(cpes.filter((cpe) => !form.test(cpe) || cpe.split(":").length !== 13)).toEqual([]);
  });

  it.each(MADE_PAGES.map((page) => [page.name, page] as const))(
    "recognise %s",
    (_, { headers = {}, html, expected }) => {
      const pairs = Object.entries(headers).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      );
      const cookies = pairs
        .filter(([name]) => name === "set-cookie")
        .map(([, line]) => line.split(";", 1)[0]?.split("=", 1)[0]);
      const page = {
        url: "https://made.test/",
        headers: pairs,
        cookies: Object.fromEntries(cookies.map((name) => [name ?? "", "x"])),
        html,
      };
      const found = detect(page, rules).map(({ name, version }) => (version === null ? name : `${name} ${version}`));
      expect(found.toSorted()).toEqual([...expected].toSorted());
    },
  );

  it.each([
    ["repeated words", "jquery wp-content bootstrap swiper ".repeat(150_000)],
    ["long addresses", `<script src='/${"jquery".repeat(1300)}'></script>`.repeat(600)],
    ["long paths", `<link href='/wp-content/plugins/elementor/${"a/".repeat(3900)}?ver=1'>`.repeat(600)],
    ["inline scripts", `<script>${"gtag('config',   ".repeat(300_000)}</script>`],
    ["styles", `<style>${"/*! Bootstrap v1.".repeat(280_000)}</style>`],
    ["blanks", `<p>${" ".repeat(5_000_000)}`],
    ["comments", "<!-- Page optimized by LiteSpeed Cache 1".repeat(120_000)],
    ["classes", `<p class='${"svelte- ".repeat(1000)}'>`.repeat(600)],
  ])("finish on a hostile page of 5 MB: %s", (_, html) => {
    const before = cpuTime();
    const robots = "Disallow: /administrator/ /CHANGELOG.txt ".repeat(8000);
    detect({ url: "https://made.test/", html: html.slice(0, 5_000_000), robots }, rules);
    expect(cpuTime() - before).toBeLessThan(5000);
  });
});

describe("the operator's folder of rules", () => {
  it.each([
    ["technologies/*.json", { "technologies/a.json": { A: { cats: [1] } }, "technologies/_.json": { "1A": {} } }],
    [
      "files by letter beside the categories",
      { "a.json": { A: {} }, "_.json": { "1A": {} }, "groups.json": { 3: {} } },
    ],
    ["a byte order mark", { "a.json": `\uFEFF{"A":{},"1A":{}}` }],
  ])("accepts %s", (_, files) => {
    write({ "categories.json": CATEGORIES, ...files });
    const opened = openTechRules(folder);
    if (!opened.ok) throw new Error(opened.line);
    expect(opened.data.technologies.map(([name]) => name).toSorted()).toEqual(["1A", "A"]);
    expect(compileRules(opened.data).categories).toEqual(new Map([[1, "CMS"]]));
  });

  it.each([
    ["no folder", null, /ENOENT/],
    ["an empty folder", {}, /no technologies\/\*\.json/],
    ["no categories", { "a.json": { A: {} } }, /ENOENT.*categories\.json/],
    ["no technology", { "categories.json": CATEGORIES, "a.json": {} }, /contain no technology/],
    ["a file that is not JSON", { "categories.json": CATEGORIES, "a.json": "{\n 'A'" }, /a\.json is not JSON/],
    ["a list", { "categories.json": CATEGORIES, "a.json": [] }, /a\.json is not a JSON object/],
    [
      "a technology that is not an object",
      { "categories.json": CATEGORIES, "a.json": { A: 5 } },
      /a\.json: "A" is not a JSON object/,
    ],
    [
      "categories that are none",
      { "categories.json": "null", "a.json": { A: {} } },
      /categories\.json is not a JSON object/,
    ],
  ])("stops the start with one line that names the setting: %s", (_, files, expected) => {
    write(files ?? {});
    const read = readConfig({ VANTAGE_TECH_RULES_DIR: files === null ? join(folder, "none") : folder });
    if (!read.ok) throw new Error(read.line);
    const opened = openData(read.config);
    const line = opened.ok ? "" : opened.line;
    expect(line).toMatch(expected);
    expect(line).toMatch(/^VANTAGE_TECH_RULES_DIR [^\n]+$/);
  });

  it("may have expressions that cannot be used, which are counted while the others apply", () => {
    write({ "categories.json": CATEGORIES, "a.json": { A: { html: ["(?<!", "a+"], dom: "p:hover" } } });
    const opened = openTechRules(folder);
    if (!opened.ok) throw new Error(opened.line);
    const rules = compileRules(opened.data);
    expect(rules.unusable).toBe(2);
    expect(detect({ url: "https://made.test/", html: "aaa" }, rules).map(({ name }) => name)).toEqual(["A"]);
  });
});
