import { expect, it } from "vitest";
import { html } from "#control-plane/core/pages/html.ts";
import { placePaths, withoutBasePath } from "#control-plane/http/base-path.ts";

it("paths in attributes of a page get the base path; texts, other values and other hosts stay", () => {
  const typed = '" href="/x" action="/y';
  const page = html`<a title="${typed}" href="/a"><img src="/b" alt=""></a><form action="//other.example/"><p>${typed}</p>
    <input value="/c"><a href="https://other.example/d">d</a><a href="#e">e</a><a href="?f">f</a></form>`;
  const expected = String(page).replace('href="/a"', 'href="/base/a"').replace('src="/b"', 'src="/base/b"');
  expect(placePaths(String(page), "/base")).toBe(expected);
  expect(placePaths(String(page), "")).toBe(String(page));
});

it.each([
  ["/base", "/"],
  ["/base?x=/base", "/?x=/base"],
  ["/base/", "/"],
  ["/base/base/a", "/base/a"],
  ["/bases", "/bases"],
  ["/a/base", "/a/base"],
])("of %s remains %s", (target, rest) => expect(withoutBasePath(target, "/base")).toBe(rest));
