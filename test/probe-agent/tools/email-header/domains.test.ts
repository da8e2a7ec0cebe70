import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
import { alignmentOf, findDisguise } from "#probe-agent/tools/email-header/domains.ts";

const NOW = new Date("2024-01-03T00:00:00Z");

describe("alignment", () => {
  it.each([
    ["a.example.com", "example.com", false, true],
    ["example.com", "Example.COM", true, true],
    ["a.co.uk", "b.co.uk", false, false],
    ["one.github.io", "two.github.io", false, false],
    ["example.com", "example.net", false, false],
  ])("of %s and %s", (one, other, strict, relaxed) => {
    expect(alignmentOf(one, other)).toEqual({ strict, relaxed });
  });

  it("is unknown if one of them is unknown", () => {
    expect(alignmentOf(null, "a.example")).toBeNull();
  });
});

describe("disguised domains", () => {
  it.each([
    ["example.com", null],
    ["bücher.example", null],
    ["пример.рф", null],
    ["例え.テスト", null],
    ["한국abc.example", null],
    ["gооgle.com", "mixed_scripts"],
    ["xn--ggle-55da.com", "mixed_scripts"],
    ["сосо.com", "latin_look_alikes"],
    ["a\u202Eb.com", "invisible_characters"],
    ["xn--zzzzzzzzzzzzzzzz.example", null],
    ["x".repeat(100_000), null],
  ])("%.30s: %s", (domain, disguise) => {
    expect(findDisguise(domain)).toBe(disguise);
  });
});

describe("List-Unsubscribe", () => {
  const list = (...lines: readonly string[]) => analyseHeaders(lines.join("\r\n"), NOW).list_unsubscribe;

  it.each([
    ["<mailto:list@host.com?subject=unsubscribe>", { mailto: ["mailto:list@host.com?subject=unsubscribe"] }],
    [
      "(Use this command to get off the list)\r\n     <mailto:list-manager@host.com?body=unsubscribe%20list>",
      { mailto: ["mailto:list-manager@host.com?body=unsubscribe%20list"] },
    ],
    [
      "<http://www.host.com/list.cgi?cmd=unsub&lst=list>,\r\n     <mailto:list-request@host.com?subject=unsubscribe>",
      {
        http: ["http://www.host.com/list.cgi?cmd=unsub&lst=list"],
        mailto: ["mailto:list-request@host.com?subject=unsubscribe"],
      },
    ],
    ["<https://a.example/\r\n x,y>", { https: ["https://a.example/x,y"] }],
  ])("RFC 2369 section 3.2: %j", (value, expected) => {
    expect(list(`List-Unsubscribe: ${value}`)).toMatchObject({ ...expected, one_click: false, issues: [] });
  });

  it("RFC 8058 section 8.1: one-click unsubscription without the required signature", () => {
    const lines = [
      "List-Unsubscribe: <https://example.com/unsubscribe/opaquepart>",
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ];
    expect(list(...lines)).toMatchObject({
      https: ["https://example.com/unsubscribe/opaquepart"],
      one_click: true,
      one_click_signed: false,
      issues: ["No DKIM signature covers both fields (RFC 8058 section 4)."],
    });
  });

  it.each([
    [["List-Unsubscribe: nothing"], "The field has no address in angle brackets."],
    [["List-Unsubscribe: <ftp://a.example>"], "Some addresses have a scheme that mail programs do not support."],
    [
      ["List-Unsubscribe: <mailto:a@b.example>", "List-Unsubscribe-Post: List-Unsubscribe=One-Click"],
      "One-click unsubscription needs an https address (RFC 8058 section 3.1).",
    ],
    [
      ["List-Unsubscribe: <https://a.example>", "List-Unsubscribe-Post: yes"],
      "List-Unsubscribe-Post is not List-Unsubscribe=One-Click.",
    ],
  ])("%j", (lines, issue) => {
    expect(list(...lines)?.issues).toContain(issue);
    expect(list(...lines)?.one_click).toBe(false);
  });
});
