import { describe, expect, it } from "vitest";
import { parseDocument } from "#probe-agent/analysis/html/document.ts";
import { Elements } from "#probe-agent/analysis/page/tech/subject.ts";
import { parseSelector } from "#probe-agent/analysis/page/tech/selector.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const PAGE = `<html lang="de-CH"><body class="home page"><main id="main"><h1 class="t big">One</h1><p>a</p><p data-x="Foo bar">b</p>
  <a href="https://cdn.example/x.js?y" id="l:1">c</a><ul><li>1</li><li class="on">2</li></ul><q></q><b><s> </s></b><input type=TEXT class="">
  </main>
  <template><i id="hidden"></i></template><noscript><iframe src="/ns.html"></iframe></noscript></body></html>`;
const elements = new Elements(parseDocument(PAGE).root);

function find(selector: string): string[] | null {
  const parsed = parseSelector(selector);
  return parsed === null ? null : elements.find(parsed, 100).map(({ name }) => name);
}

describe("a selector finds the same elements as in a browser", () => {
  it.each([
    ["h1", ["h1"]],
    ["H1", ["h1"]],
    ["#main", ["main"]],
    [".big.t", ["h1"]],
    ["body.page #main > p", ["p", "p"]],
    ["body > p", []],
    ["html p", ["p", "p"]],
    ["h1 + p", ["p"]],
    ["h1 ~ a", ["a"]],
    ["p+p", ["p"]],
    ["ul>li.on", ["li"]],
    ["[data-x]", ["p"]],
    ["[data-x='Foo bar']", ["p"]],
    ['[data-x="foo bar" i]', ["p"]],
    ["[data-x='foo bar']", []],
    ["[data-x~=bar]", ["p"]],
    ["[data-x~='Foo bar']", []],
    ["[data-x^=Foo][data-x$=bar]", ["p"]],
    ["[data-x*='o b']", ["p"]],
    ["[data-x*='']", []],
    ["[lang|=de]", ["html"]],
    ["a[href*='//cdn.example/'], link", ["a"]],
    ["#l\\:1", ["a"]],
    ["li:not(.on)", ["li"]],
    ["li:not(.on, :first-child)", []],
    ["li:last-child", ["li"]],
    ["q:empty", ["q"]],
    ["s:empty", []],
    ["li:only-child", []],
    ["s:only-child", ["s"]],
    ["[TYPE=text]", ["input"]],
    ["[constructor^=x]", []],
    ["s:not([constructor^=x])", ["s"]],
    ["*:root", ["html"]],
    ["iframe[src]", ["iframe"]],
    ["#hidden", []],
    ["main , h1", ["main", "h1"]],
  ])("%s", (selector, expected) => {
    expect(find(selector)).toEqual(expected);
  });

  it.each([
    "",
    ",",
    "p >",
    "> p",
    "p:hover",
    "p::before",
    "p:nth-child(2)",
    "p:has(b)",
    "p:contains(b)",
    "p:first-child(2)",
    "p:not(a b)",
    "p:not()",
    "p,",
    "~ p",
    "p >> b",
    "p < b",
    "p || b",
    "p$b",
    "p*",
    "p.:b",
    "p#/b",
    "[!a]",
    "[a!=b]",
    "[class~='']",
    "[a='b]",
    "[a=b']",
    "svg|a",
    "a b ".repeat(7),
    "[a",
    "[a=]",
    "p..b",
    "p,,b",
    "p:not(",
    "#",
    "a".repeat(3000),
  ])("rejects %s", (selector) => {
    expect(find(selector)).toBeNull();
  });

  it("takes less than 5 s with a long selector on a deep page", () => {
    const deep = new Elements(parseDocument("<div class=a>".repeat(100_000)).root);
    const parsed = parseSelector(".a .a .a > .b");
    const started = cpuTime();
    expect(deep.find(parsed ?? [], 10)).toEqual([]);
    expect(cpuTime() - started).toBeLessThan(5000);
  });

  it.each(["i:last-child", "i:only-child"])("finds %s in less than 5 s on a page of 40,000 comments", (selector) => {
    const comments = "<!---->".repeat(20_000);
    const wide = new Elements(parseDocument(`<p>${comments}${"<i></i>".repeat(40_000)}${comments}`).root);
    const started = cpuTime();
    expect(wide.find(parseSelector(selector) ?? [], 10).length).toBeLessThan(2);
    expect(cpuTime() - started).toBeLessThan(5000);
  });
});
