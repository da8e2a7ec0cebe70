import { describe, expect, it } from "vitest";
import { agentFaults, robotsFaults } from "#probe-agent/analysis/robots/faults.ts";
import { parseRobots } from "#probe-agent/analysis/robots/parse.ts";
import { reportFile, testBots } from "#probe-agent/analysis/robots/report.ts";
import { contentSignals, contentUsage } from "#probe-agent/analysis/robots/signals.ts";

describe("lines without the effect that was meant", () => {
  it("are rules for nobody, patterns that match nothing, and sitemaps without an address", () => {
    const file = parseRobots(
      "Disallow: /early\nUser-agent: *\nDisallow: private\nAllow: /a$b\nAllow: /c$\nDisallow: *.gif\nDisallow:\n" +
        "Sitemap: /map.xml\nSitemap: https://example.com/map.xml\nAllow: https://example.com/x\n",
    );
    expect(robotsFaults(file)).toEqual([
      { line: 1, message: "stands before the first user-agent line, so it is for nobody" },
      { line: 3, message: '"private" begins with neither / nor *, so it matches nothing' },
      { line: 4, message: "$ before the end of a pattern stands for itself" },
      { line: 8, message: 'the sitemap "/map.xml" is no absolute http(s) address' },
      { line: 10, message: '"https://example.com/x" begins with neither / nor *, so it matches nothing' },
    ]);
  });

  it("are user agents that break off within a word, which are shown whole", () => {
    const file = parseRobots("User-agent: Ai2Bot\nUser-agent: Googlebot/2.1\nUser-agent: 360Spider\nUser-agent: *\n");
    expect(reportFile(file).fields.groups[0]?.user_agents).toEqual(["Ai2Bot", "Googlebot", "360Spider", "*"]);
    expect(agentFaults(file.groups)).toEqual([
      { line: 1, message: '"Ai2Bot" is no product token of letters, - and _: some crawlers read "Ai"' },
      { line: 3, message: '"360Spider" is no product token of letters, - and _: some crawlers read ""' },
    ]);
  });
});

it("a crawler whose name has a digit or a space is found by its name", () => {
  const bots = ["Ai2Bot", "Kangaroo Bot", "img2dataset"].map((name) => {
    return { name, operator: "", purpose: "train" as const };
  });
  const file = parseRobots("User-agent: ai2bot\nUser-agent: Kangaroo Bot\nDisallow: /\n");
  expect(testBots(file, bots).bots.map(({ allowed, named }) => [allowed, named])).toEqual([
    [false, true],
    [false, true],
    [true, false],
  ]);
});

describe("what is said of uses of the content", () => {
  it.each([
    ["User-agent: *\nContent-Signal: search=yes, ai-train=no\n", { search: true, ai_input: null, ai_train: false }],
    [
      "User-agent: GPTBot\nContent-Signal: search=no,ai-train=no\nDisallow: /\n\nUser-agent: *\nAllow: /\n",
      { search: null, ai_input: null, ai_train: null },
    ],
    [
      "User-agent: *\nContent-Signal: ai-train=yes\nAllow: /\nUser-agent: CCBot\nContent-Signal: ai-train=no\nAllow: /",
      { search: null, ai_input: null, ai_train: true },
    ],
    ["Content-Signal: ai-input=no\nUser-agent: a\nDisallow: /\n", { search: null, ai_input: false, ai_train: null }],
    ["User-agent: a\nUser-agent: *\nContent-Signal: search=no\n", { search: false, ai_input: null, ai_train: null }],
  ])("to everyone is not what is said to one crawler: %j", (text, signals) => {
    expect(contentSignals(parseRobots(text))).toEqual(signals);
  });

  it("holds for Content-Usage too", () => {
    const one = "User-agent: GPTBot\nContent-Usage: train-ai=n\nDisallow: /\n";
    expect(contentUsage(parseRobots(one))).toBeNull();
    expect(contentUsage(parseRobots(`${one}User-agent: *\nContent-Usage: train-ai=y\n`))).toBe("train-ai=y");
  });
});
