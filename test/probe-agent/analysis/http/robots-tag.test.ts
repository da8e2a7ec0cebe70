import { describe, expect, it } from "vitest";
import { forbidsAll, parseRobotsTags } from "#probe-agent/analysis/http/robots-tag.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

describe("X-Robots-Tag", () => {
  it.each([
    [["noindex"], [["*", ["noindex"]]]],
    [["NoIndex, NOFOLLOW"], [["*", ["noindex", "nofollow"]]]],
    [
      ["googlebot: nofollow", "otherbot: noindex, nofollow"],
      [
        ["googlebot", ["nofollow"]],
        ["otherbot", ["noindex", "nofollow"]],
      ],
    ],
    [
      ["noindex, googlebot: none"],
      [
        ["*", ["noindex"]],
        ["googlebot", ["none"]],
      ],
    ],
    [["max-snippet: 20, max-image-preview:large"], [["*", ["max-snippet:20", "max-image-preview:large"]]]],
    [
      ["unavailable_after: Wed, 25 Jun 2025 15:00:00 PST, noindex"],
      [["*", ["unavailable_after:wed, 25 jun 2025 15:00:00 pst", "noindex"]]],
    ],
    [["bot: max-snippet:-1"], [["bot", ["max-snippet:-1"]]]],
    [["", " , "], []],
  ])("%j", (values, expected) => {
    expect(parseRobotsTags(values).map(({ agent, directives }) => [agent, directives])).toEqual(expected);
  });

  it("forbids only if it is for every crawler; none means both", () => {
    expect(forbidsAll(parseRobotsTags(["none"]), "noindex")).toBe(true);
    expect(forbidsAll(parseRobotsTags(["none"]), "nofollow")).toBe(true);
    expect(forbidsAll(parseRobotsTags(["googlebot: noindex"]), "noindex")).toBe(false);
  });

  it("is read in linear time and within bounds", () => {
    const startedAt = cpuTime();
    for (const value of [
      "a:".repeat(50_000),
      "noindex,".repeat(50_000),
      " ".repeat(300_000),
      "unavailable_after: a,1".repeat(9000),
    ]) {
      const directives = parseRobotsTags([value, value]).flatMap((tag) => tag.directives);
      expect(directives.length).toBeLessThanOrEqual(100);
    }
    expect(cpuTime() - startedAt).toBeLessThan(2000);
  });
});
