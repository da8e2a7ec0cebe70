import { describe, expect, it } from "vitest";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const render = compileTemplate('<p title="<%= it.value %>"><%= it.value %></p>');

describe("a template", () => {
  it.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    [`"' onload='x`, "&quot;&#39; onload=&#39;x"],
    ["&lt;", "&amp;lt;"],
    ["<%= it.constructor %><%~ it.value %>", "&lt;%= it.constructor %&gt;&lt;%~ it.value %&gt;"],
    ["`${process.exit(1)}`\\'", "`${process.exit(1)}`\\&#39;"],
    ["\u2028\u0000line\r\n  end", "\u2028\u0000line\r\n  end"],
    [["<b>", 1], "&lt;b&gt;,1"],
    [{ toString: (): string => "<i>" }, "&lt;i&gt;"],
  ])("escapes %j wherever it is written, and never runs a value as code", (value, expected) => {
    expect(render({ value })).toBe(`<p title="${expected}">${expected}</p>`);
  });

  it.each(["<%~ it.value %>", "<%-~ it.value %>", "<% ~it.value %>", "<% output(it.value) %>", "<% __eta.res += 1 %>"])(
    "with %s is refused when it is compiled: it would write without escaping",
    (template) => {
      expect(() => compileTemplate(template)).toThrow("without escaping");
    },
  );

  it("that is not well-formed is refused when it is compiled", () => {
    expect(() => compileTemplate("<% if (it.value { %>")).toThrow("Bad template syntax");
    expect(() => compileTemplate("<p><%= it.value")).toThrow("unclosed tag");
  });
});
