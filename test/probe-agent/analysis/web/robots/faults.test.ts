import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { describeRobotsFindings, type RobotsDelivery } from "#probe-agent/tools/robots/findings.ts";
import { robotsReport, foreignBody } from "#probe-agent/analysis/web/robots/rules.ts";
import { expectWellFormed } from "#test/support/findings.ts";
import { describe, expect, it } from "vitest";
import { agentFaults, robotsFaults } from "#probe-agent/analysis/web/robots/faults.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { reportFile, testBots } from "#probe-agent/analysis/web/robots/report.ts";
import { contentSignals, contentUsage } from "#probe-agent/analysis/web/robots/signals.ts";

describe("lines that do not have the intended effect", () => {
  it("are rules for no crawler, patterns that match nothing, and sitemaps that are not URLs", () => {
    const file = parseRobots(
      "Disallow: /early\nUser-agent: *\nDisallow: private\nAllow: /a$b\nAllow: /c$\nDisallow: *.gif\nDisallow:\n" +
        "Sitemap: /map.xml\nSitemap: https://example.com/map.xml\nAllow: https://example.com/x\n",
    );
    expect(robotsFaults(file)).toEqual([
      {
        line: 1,
        id: "rule-before-user-agent",
        message: "the rule precedes the first user-agent line, so no crawler applies it",
      },
      {
        line: 3,
        id: "pattern-matches-nothing",
        message: '"private" starts with neither / nor *, so it matches nothing',
      },
      {
        line: 4,
        id: "dollar-within-pattern",
        message: '$ within "/a$b" matches a dollar sign, not the end of the URL',
      },
      { line: 8, id: "sitemap-not-absolute", message: 'the sitemap "/map.xml" is not an absolute http or https URL' },
      {
        line: 10,
        id: "pattern-matches-nothing",
        message: '"https://example.com/x" starts with neither / nor *, so it matches nothing',
      },
    ]);
  });

  it("are sitemap and user-agent lines without a value, and delays that are not numbers", () => {
    const file = parseRobots(
      "User-agent:\nDisallow: /a\nSitemap:\nSitemap: # later\nUser-agent: *\nCrawl-delay: soon\nCrawl-delay: 2\nSitemap: map.xml\n",
    );
    expect(file.sitemaps).toEqual([{ url: "map.xml", line: 8 }]);
    expect(robotsFaults(file)).toEqual([
      {
        line: 1,
        id: "user-agent-empty",
        message: "the user-agent line has no name, so no crawler applies its rules",
      },
      { line: 3, id: "sitemap-empty", message: "the sitemap line has no URL" },
      { line: 4, id: "sitemap-empty", message: "the sitemap line has no URL" },
      { line: 6, id: "crawl-delay-not-a-number", message: 'the crawl delay "soon" is not a number of seconds' },
      { line: 8, id: "sitemap-not-absolute", message: 'the sitemap "map.xml" is not an absolute http or https URL' },
    ]);
    const { fields } = reportFile(file);
    expect([fields.sitemaps, fields.groups.map(({ user_agents: names }) => names)]).toEqual([["map.xml"], [[], ["*"]]]);
  });

  it("are user agents whose token ends within a word, which are shown completely", () => {
    const file = parseRobots("User-agent: Ai2Bot\nUser-agent: Googlebot/2.1\nUser-agent: 360Spider\nUser-agent: *\n");
    expect(reportFile(file).fields.groups[0]?.user_agents).toEqual(["Ai2Bot", "Googlebot", "360Spider", "*"]);
    expect(agentFaults(file.groups)).toEqual([
      {
        line: 1,
        id: "user-agent-not-a-token",
        message: '"Ai2Bot" is not a product token, which has only letters, - and _; some crawlers read it as "Ai"',
      },
      {
        line: 3,
        id: "user-agent-not-a-token",
        message: '"360Spider" is not a product token, which has only letters, - and _; some crawlers read it as ""',
      },
    ]);
  });
});

describe("a body that is not a robots.txt", () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text);
  it.each([
    ["HTML", "<!DOCTYPE html><title>Not found</title>"],
    ["HTML", '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">'],
    ["HTML", '\uFEFF<?xml version="1.0"?>\r\n<!-- page -->\n<html xmlns="http://www.w3.org/1999/xhtml">'],
    ["HTML", `\n\n <!-- ${"x".repeat(600)} -->\n<!doctype HTML>`],
    ["HTML", '<?xml version="1.0"?><?xml-stylesheet href="x"?><html>'],
    ["XML", '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>'],
    ["XML", "<rss version='2.0'></rss>"],
    ["JSON", '{"status": 404, "message": "Not Found"}'],
    ["JSON", `\uFEFF [{"a": "${"x".repeat(80_000)}"}]`],
  ])("is recognised as %s: %.60j", (kind, body) => {
    expect(foreignBody("text/plain", bytes(body))).toBe(kind);
  });

  it("is UTF-16, or has the type HTML", () => {
    expect(foreignBody("text/plain", Buffer.from("\uFEFFUser-agent: *\n", "utf16le"))).toBe("UTF-16");
    expect(foreignBody("text/html", bytes("User-agent: *"))).toBe("HTML");
  });

  it.each([
    "User-agent: *\nDisallow:",
    "\uFEFF# <html>\nUser-agent: *",
    "",
    "[rules]\nUser-agent: *",
    "{ User-agent: *",
  ])("is not %j", (body) => {
    expect(foreignBody("text/plain", bytes(body))).toBeNull();
  });
});

it("the limitations name what each list leaves out", () => {
  const many = (count: number, line: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => line(n)).join("");
  const file = parseRobots(
    many(230, (n) => `User-agent: a${n}x\n`) +
      "Disallow: /\n" +
      many(1_200, (n) => `Sitemap: https://example.com/${n}.xml\n`) +
      many(201, (n) => `Host: ${n}\n`) +
      many(202, () => "no rule at all\n") +
      many(203, () => "Disalow: /x\n") +
      `Sitemap: https://example.com/${"x".repeat(3_000)}\n`,
  );
  const { fields, limitations } = reportFile(file);
  expect([fields.groups[0]?.user_agents.length, fields.sitemaps.length]).toEqual([200, 200]);
  expect(limitations).toEqual([
    "Only 200 of 230 user agents are shown. All were applied.",
    "Only 200 of 1201 sitemaps are shown.",
    "Only 200 of 201 lines with unknown keys are shown.",
  ]);
  const long = parseRobots(`User-agent: *\nDisallow: /${"x".repeat(600)}\n`);
  expect(reportFile(long).limitations).toEqual(["Truncated texts: 1."]);
  expect(reportFile(parseRobots("User-agent: *\nDisallow: /\n")).limitations).toEqual([]);
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

describe("preferences for uses of the content", () => {
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
  ])("for all crawlers are separate from those for one crawler: %j", (text, signals) => {
    expect(contentSignals(parseRobots(text))).toEqual(signals);
  });

  it("include Content-Usage", () => {
    const one = "User-agent: GPTBot\nContent-Usage: train-ai=n\nDisallow: /\n";
    expect(contentUsage(parseRobots(one))).toBeNull();
    expect(contentUsage(parseRobots(`${one}User-agent: *\nContent-Usage: train-ai=y\n`))).toBe("train-ai=y");
  });
});

describe("findings of a robots.txt", () => {
  const described = (text: string | Uint8Array, change: Partial<RobotsDelivery> = {}) => {
    const bytes = Buffer.from(text);
    const delivery = {
      code: 200,
      contentType: "text/plain",
      truncated: false,
      broken: null,
      url: "https://example.com/robots.txt",
      origin: "https://example.com",
      ...change,
    };
    const { code: status, contentType } = delivery;
    const report = robotsReport({ status, contentType, bytes, bots: [], tested: "https://example.com/" });
    const { findings } = fitFindings(describeRobotsFindings(delivery, report));
    expectWellFormed(findings);
    return findings;
  };
  const GOOD = "User-agent: *\nDisallow: /private\n";

  it("are empty for a good file", () => {
    expect(described(GOOD)).toEqual([]);
  });

  it.each<[kind: string, how: string, text: string | Uint8Array, change?: Partial<RobotsDelivery>]>([
    ["critical crawlers-refused", "rate limit", "", { code: 429 }],
    ["critical robots-unavailable", "404", "", { code: 503 }],
    ["info not-text-plain", "Content-Type: text/plain", GOOD, { contentType: "application/octet-stream" }],
    ["warning cut-short", "connection", GOOD, { broken: "reset" }],
    ["warning too-large", "500 KiB", GOOD, { truncated: true }],
    ["info other-host", "on the host itself", GOOD, { url: "https://cdn.example/robots.txt" }],
    ["warning not-utf-8", "UTF-8", Buffer.from("\uFEFFUser-agent: *\n", "utf16le")],
    ["warning not-robots-txt", "404", "<!doctype html><p>"],
    ["warning no-rules", "plain text", "page not found"],
    ["info lines-not-rules", "key: value", `${GOOD}what is this\n`],
    ["info misspelt-lines", "Correct the key", `${GOOD}Disalow: /x\n`],
    ["warning rule-before-user-agent", "User-agent: *", `Disallow: /x\n${GOOD}`],
    ["warning pattern-matches-nothing", "Start the pattern", `${GOOD}Disallow: x\n`],
    ["info dollar-within-pattern", "%24", `${GOOD}Disallow: /a$b\n`],
    ["warning user-agent-empty", "name of a crawler", `User-agent:\n${GOOD}`],
    ["info crawl-delay-not-a-number", "Crawl-delay: 10", `${GOOD}Crawl-delay: soon\n`],
    ["info sitemap-empty", "absolute URL", `${GOOD}Sitemap:\n`],
    ["warning sitemap-not-absolute", "Sitemap: https://", `${GOOD}Sitemap: /a.xml\n`],
    ["info user-agent-not-a-token", "product token", "User-agent: Ai2Bot\nDisallow: /\n"],
  ])("report %s, with advice", (kind, how, text, change) => {
    const found = described(text, change).find(({ id, severity }) => `${severity} ${id}` === kind);
    expect(found?.how).toContain(how);
  });

  it("name the format of a body that is not a robots.txt, and the lines that have no effect", () => {
    const told = (text: string) => described(text).map(({ id, message, where }) => [id, where, message]);
    expect(told("<!doctype html>")).toEqual([
      ["not-robots-txt", null, "The server sends HTML instead of a robots.txt. Crawlers find no rules in it."],
    ]);
    expect(told('{"error": "not found"}')[0]?.[2]).toContain("sends JSON");
    expect(told("404 page not found\n").map(([id]) => id)).toEqual(["no-rules", "lines-not-rules"]);
    expect(told(`Sitemap:\n${GOOD}`)).toEqual([["sitemap-empty", "line 1", "Line 1: the sitemap line has no URL."]]);
    const many = told(`Disallow: /\nUser-agent: *\n${"Disallow: private\n".repeat(30)}`);
    expect(many).toHaveLength(11);
    expect(many[0]?.slice(0, 2)).toEqual(["rule-before-user-agent", "line 1"]);
    expect(many[1]?.[2]).toContain('Line 3: "private" starts with neither');
  });
});
