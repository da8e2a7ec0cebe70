import { describe, expect, it } from "vitest";
import { escapeDescriptions, escapeMarkdown } from "#control-plane/surfaces/api-document/escape-markdown.ts";

describe("text as Markdown", () => {
  it.each([
    ["TLSA records at _<port>._tcp.<host>", String.raw`TLSA records at \_\<port\>.\_tcp.\<host\>`],
    ["AS<number>, tag, probe:<id> or all", String.raw`AS\<number\>, tag, probe:\<id\> or all`],
    ["Crawler it is for, * for all", String.raw`Crawler it is for, \* for all`],
    ["[] is nothing", String.raw`\[\] is nothing`],
    ["Mean of |difference|", String.raw`Mean of \|difference\|`],
    [String.raw`\DDD is an octet`, String.raw`\\DDD is an octet`],
    ["&lt; means less", String.raw`\&lt; means less`],
    ["- a line that is no list", String.raw`\- a line that is no list`],
    ["1. is no list either", String.raw`1\. is no list either`],
    ["add up to total_ms; a & b; 1: yes", "add up to total_ms; a & b; 1: yes"],
    ["in code `<id>` and `__meta_*`, outside <id>", "in code `<id>` and `__meta_*`, outside \\<id\\>"],
  ])("renders %s unchanged", (text, escaped) => expect(escapeMarkdown(text)).toBe(escaped));

  it("is escaped only in descriptions: names, examples and values of data stay unchanged", () => {
    const document = {
      info: { title: "<a>", description: "<b>" },
      properties: {
        description: { type: "string", description: "*" },
        default: { type: "string", description: "<c>" },
      },
      examples: [{ description: "<d>" }],
      default: "<e>",
      enum: ["<f>"],
    };
    expect(escapeDescriptions(document)).toEqual({
      info: { title: "<a>", description: String.raw`\<b\>` },
      properties: {
        description: { type: "string", description: String.raw`\*` },
        default: { type: "string", description: String.raw`\<c\>` },
      },
      examples: [{ description: "<d>" }],
      default: "<e>",
      enum: ["<f>"],
    });
  });
});
