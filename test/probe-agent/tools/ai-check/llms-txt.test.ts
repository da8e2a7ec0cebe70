import { describe, expect, it } from "vitest";
import { parseLlmsTxt } from "#probe-agent/tools/ai-check/llms-txt.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

// The example of llmstxt.org, section "Example" (a mock).
const EXAMPLE = `# Title

> Optional description goes here

Optional details go here

## Section name

- [Link title](https://link_url): Optional link details

## Optional

- [Link title](https://link_url)
`;

describe("llms.txt", () => {
  it("reads the proposal's own example", () => {
    expect(parseLlmsTxt(EXAMPLE)).toEqual({
      valid: true,
      title: "Title",
      summary: "Optional description goes here",
      sections: [
        { name: "Section name", links: 1 },
        { name: "Optional", links: 1 },
      ],
      links: 2,
      errors: [],
    });
  });

  it.each([
    ["", "it has no title"],
    ["## Docs\n- [a](b)\n# Late", "line 3 is a title after the first section"],
    ["# A\n# B", "line 2 is a second title"],
    ["# A\n## Docs\n- just text", "line 3 is not a link"],
    ["# A\n## Docs\n- [a] (b)", "line 3 is not a link"],
  ])("reports the error in %j", (text, what) => {
    const { valid, errors } = parseLlmsTxt(text);
    expect(valid).toBe(false);
    expect(errors.join()).toContain(what);
  });

  it("accepts links with pairs of brackets in the URL or name, and ignores titles in code blocks", () => {
    const code = "```sh\n# install\n~~~\nnpm install\n```\n";
    const links = [
      "- [Foo (bar)](https://en.wikipedia.org/wiki/Foo_(bar)): an article",
      "- [lists [1]](/lists)",
      "- [spaces](<https://a.test/x y>)",
    ];
    expect(parseLlmsTxt(`# A\n\n${code}\n## Docs\n\n${links.join("\n")}\n`)).toMatchObject({
      valid: true,
      title: "A",
      links: 3,
      errors: [],
    });
    expect(parseLlmsTxt("```\n# no title\n").valid).toBe(false);
  });

  it("skips a byte order mark, accepts any line end, and requires only a title", () => {
    expect(parseLlmsTxt("\uFEFF# Name\r\n\r> About\r## S\r\n* [x](/y)")).toMatchObject({ valid: true, links: 1 });
    expect(parseLlmsTxt("# Name")).toMatchObject({ valid: true, sections: [], summary: null });
  });

  it("reads hostile text within a moment", () => {
    const started = cpuTime();
    parseLlmsTxt(`# A\n## B\n${"- [".repeat(150_000)}\n- [${"[".repeat(400_000)}](${")".repeat(9)}`);
    parseLlmsTxt(`# A\n## B\n- [${"[a".repeat(200_000)}](${"(".repeat(200_000)}\n- [a](${"(b)".repeat(90_000)}`);
    parseLlmsTxt(`# A\n${"## B\n".repeat(100_000)}`);
    expect(cpuTime() - started).toBeLessThan(5_000);
  });
});
