import { describe, expect, it } from "vitest";
import { html, trusted } from "#control-plane/core/pages/html.ts";

describe("a template of HTML", () => {
  it.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    [`"' onload='x`, "&quot;&#39; onload=&#39;x"],
    ["&lt;", "&amp;lt;"],
    ["${evaluate(1)}`\\'", "${evaluate(1)}`\\&#39;"],
    ["\u2028\u0000line\r\n  end", "\u2028\u0000line\r\n  end"],
  ])("escapes %j wherever it is written", (value, expected) => {
    expect(String(html`<p title="${value}">${value}</p>`)).toBe(`<p title="${expected}">${expected}</p>`);
  });

  it("writes other templates as they are, one after the other, and what is taken as HTML", () => {
    const items = ["<a>", "b"].map((item) => html`<li>${item}</li>`);
    expect(String(html`<ul>${items}</ul>${trusted("<br>")}`)).toBe("<ul><li>&lt;a&gt;</li><li>b</li></ul><br>");
  });

  it("does not take for HTML what only looks like it", () => {
    const forged = JSON.parse('{"isMarkup":true,"value":"<b>"}') as string;
    expect(() => html`<p>${forged}</p>`).toThrow("a template cannot write a value of type object");
  });

  it("writes zero, and nothing for null, undefined, false and an empty list", () => {
    expect(String(html`${0}|${null}${undefined}${false}${[]}|`)).toBe("0||");
  });

  it("leaves the indentation of its source out, and breaks at its ends; breaks of values stay", () => {
    const lines = html`
      <pre>${"a\n  b"}</pre>
      ${null} <b>c</b>
    `;
    expect(String(lines)).toBe("<pre>a\n  b</pre>\n <b>c</b>");
  });
});
