import { robotsAllowed } from "#test/entry-points.ts";
import { describe, expect, it } from "vitest";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/web/robots/path.ts";
import { robotsReport } from "#probe-agent/analysis/web/robots/rules.ts";

const SITE = "https://example.com";

/** Each row: the file, the agent, the path, and whether the agent is allowed to fetch it. */
function table(rows: readonly (readonly [string, string, string, boolean])[]): void {
  for (const [file, agent, path, allowed] of rows) {
    it(`${allowed ? "allows" : "forbids"} ${agent || "an unnamed agent"} ${path} by ${JSON.stringify(file)}`, () => {
      expect(robotsAllowed(file, [agent], path === "" ? "" : SITE + path)).toBe(allowed);
    });
  }
}

describe("RFC 9309 section 5.1, the simple example", () => {
  const file = [
    "User-Agent: *",
    "Disallow: *.gif$",
    "Disallow: /example/",
    "Allow: /publications/",
    "",
    "User-Agent: foobot",
    "Disallow:/",
    "Allow:/example/page.html",
    "Allow:/example/allowed.gif",
    "",
    "User-Agent: barbot",
    "User-Agent: bazbot",
    "Disallow: /example/page.html",
    "",
    "User-Agent: quxbot",
  ].join("\n");
  table([
    [file, "anybot", "/picture.gif", false],
    [file, "anybot", "/picture.gif?x", true],
    [file, "anybot", "/example/x", false],
    [file, "anybot", "/publications/", true],
    [file, "foobot", "/other", false],
    [file, "foobot", "/example/page.html", true],
    [file, "FooBot", "/example/allowed.gif", true],
    [file, "bazbot", "/example/page.html", false],
    [file, "barbot", "/example/", true],
    [file, "quxbot", "/example/", true],
  ]);
});

describe("RFC 9309 section 5.2, the longest match", () => {
  const file = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif";
  table([
    [file, "foobot", "/example/page/x", true],
    [file, "foobot", "/example/page/disallowed.gif", false],
  ]);
});

describe("patterns", () => {
  const rule = (line: string): string => `user-agent: foobot\n${line}\n`;
  table([
    [rule("disallow: /path/file-with-a-%2A.html"), "foobot", "/path/file-with-a-%2A.html", false],
    [rule("disallow: /foo/bar$"), "foobot", "/foo/bar/", true],
    [rule("disallow: /a$b"), "foobot", "/a$bc", false],
    [rule("disallow: /*a*$"), "foobot", "/xay", false],
    [rule("disallow: /*a$"), "foobot", "/xaya", false],
    [rule("disallow: /ab*ba$"), "foobot", "/aba", true],
    [rule("disallow: /ツ"), "foobot", "/%E3%83%84", false],
    [rule("disallow: /%e3%83%84"), "foobot", "/%E3%83%84", false],
    [rule("disallow: /ツ"), "foobot", "/ツ", true],
    [rule("disallow: /\nallow: /%62%61%7A"), "foobot", "/baz", false],
    [rule("disallow: /X/"), "foobot", "/x/", true],
    [rule("disallow: /x\nallow: /x"), "foobot", "/x", true],
    [rule("disallow:"), "foobot", "/x", true],
    [rule("disallow: /x # note"), "foobot", "/x", false],
    [rule("disallow: /x\0/y"), "foobot", "/x", false],
  ]);
});

describe("groups", () => {
  table([
    ["allow: /x\nuser-agent: foobot\ndisallow: /", "foobot", "/x", false],
    ["user-agent: barbot\ncrawl-delay: 10\nuser-agent: *\ndisallow: /", "barbot", "/x", false],
    ["user-agent: barbot\nsitemap: https://x\nuser-agent: *\ndisallow: /", "barbot", "/x", false],
    ["user-agent: a\ndisallow: /x\nuser-agent: b\ndisallow: /z\nuser-agent: a\ndisallow: /y", "a", "/y", false],
    ["user-agent: *\ndisallow: /\nuser-agent: foobot\ndisallow:", "foobot", "/x", true],
    ["user-agent: foobot\ndisallow: /", "", "", true],
    ["user-agent: foobot\ndisallow: /", "foobot", "", false],
    ["user-agent: *\ndisallow: /", "", "/x", false],
    ["user-agent: 360spider\ndisallow: /", "", "/x", true],
  ]);
  it("merges the groups of all named agents", () => {
    const file = "user-agent: news\ndisallow: /a\nuser-agent: main\nallow: /a/b\n";
    expect(robotsAllowed(file, ["news", "main"], `${SITE}/a/b`)).toBe(true);
    expect(robotsAllowed(file, ["news", "main"], `${SITE}/a/c`)).toBe(false);
    expect(robotsAllowed(`${file}user-agent: *\ndisallow: /`, ["*", "main"], `${SITE}/x`)).toBe(true);
  });
});

describe("extensions of Google's parser", () => {
  const index = "user-agent: *\nallow: /dir/index.html\ndisallow: /\n";
  table([
    ["user-agent foobot\ndisallow /\n", "foobot", "/x", false],
    ["user-agent: foobot\ndisallow / x\n", "foobot", "/x", true],
    ...["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"].map(
      (key) => [`useragent: foobot\n${key}: /\n`, "foobot", "/x", false] as const,
    ),
    ["user-agent: * baz\ndisallow: /", "foobot", "/x", false],
    ["user-agent: *baz\ndisallow: /", "foobot", "/x", true],
    ["user-agent: foo bar\ndisallow: /", "foo", "/x", false],
    ["user-agent: foo bar\ndisallow: /", "foo bar", "/x", true],
    [index, "foobot", "/dir/", true],
    [index, "foobot", "/dir/index.html", true],
    [index, "foobot", "/dir/index.htm", false],
  ]);

  it("truncates a line at 2083 * 8 - 1 octets", () => {
    const long = `/x/${"a".repeat(2083 * 8 - "disallow: /x/".length - 1)}`;
    const file = `user-agent: foobot\ndisallow: ${long}/qux\n`;
    expect(robotsAllowed(file, ["foobot"], `${SITE}/fux`)).toBe(true);
    expect(robotsAllowed(file, ["foobot"], `${SITE}${long}/fux`)).toBe(false);
  });

  it("skips a whole or partial byte order mark, but only at the start", () => {
    const file = Buffer.from("user-agent: foobot\ndisallow: /\n");
    for (const mark of [[0xef, 0xbb, 0xbf], [0xef, 0xbb], [0xef]]) {
      expect(robotsAllowed(Buffer.concat([Buffer.from(mark), file]), ["foobot"], SITE)).toBe(false);
    }
    expect(robotsAllowed(Buffer.concat([Buffer.from([0xef, 0x11, 0xbf]), file]), ["foobot"], SITE)).toBe(true);
    const inside = Buffer.concat([Buffer.from("a: b\n"), Buffer.from([0xef, 0xbb, 0xbf]), file]);
    expect(robotsAllowed(inside, ["foobot"], SITE)).toBe(true);
  });
});

it("extracts path, parameters and query of a URL, unchanged", () => {
  const paths: Record<string, string> = {
    "": "/",
    "http://www.example.com": "/",
    "http://www.example.com/a?b;c#d": "/a?b;c",
    "http://www.example.com?a": "/?a",
    "http://www.example.com/a/http://x": "/a/http://x",
    "www.example.com/a": "/a",
    "//a/b/c": "/b/c",
    "http://www.example.com#/a": "/",
    "example.com/a?x=http://y": "/a?x=http://y",
    "https://a/b//c": "/b//c",
  };
  const taken = Object.keys(paths).map((url) => [url, robotsPath(url)]);
  expect(Object.fromEntries(taken)).toEqual(paths);
});

it("counts lines that end in CR, LF or CRLF and reports syntax errors", () => {
  for (const end of ["\n", "\r", "\r\n"]) {
    const file = parseRobots(
      ["User-Agent: a", "Allow: /", "nonsense here now", "", "Crawl-delay: 2.5", ": x"].join(end),
    );
    expect(file.groups).toEqual([
      {
        userAgents: [{ token: "a", written: "a", line: 1 }],
        rules: [{ type: "allow", pattern: "/", line: 2, offset: 13 + end.length }],
        crawlDelaySeconds: 2.5,
      },
    ]);
    expect(file.errors.map((error) => error.line)).toEqual([3, 6]);
    expect(file.unknown).toEqual([{ key: "Crawl-delay", value: "2.5", line: 5 }]);
  }
});

describe("the report of a site's rules", () => {
  const report = (text: string, status = 200) =>
    robotsReport({ status, contentType: "text/plain", bytes: Buffer.from(text), bots: [], tested: `${SITE}/a` });

  it("tests a crawler by each of the tokens that its operator documents", () => {
    const file =
      "User-agent: Googlebot\nDisallow: /a\n\nUser-agent: Yandex\nDisallow: /b\n\nUser-agent: *\nDisallow: /\n";
    const verdicts = report(file).agents.map(({ ua, allowed, line, group }) => [ua, allowed, line, group]);
    expect(verdicts).toContainEqual(["Googlebot-Image", false, 2, "specific"]);
    expect(verdicts).toContainEqual(["Applebot", false, 2, "specific"]);
    expect(verdicts).toContainEqual(["YandexBot", true, null, "specific"]);
    expect(verdicts).toContainEqual(["Bingbot", false, 8, "global"]);
  });

  it.each([
    [404, "allow_all", true],
    [403, "allow_all", true],
    [500, "disallow_all", false],
    [503, "disallow_all", false],
  ])("with status %i is %s", (status, availability, allowed) => {
    const { agents, ...rest } = report("User-agent: *\nDisallow: /only-if-read", status);
    expect(rest.availability).toBe(availability);
    expect(new Set(agents.map((agent) => agent.allowed))).toEqual(new Set([allowed]));
  });
});

it("parses five megabytes of any text quickly", () => {
  const path = `${SITE}/${"a".repeat(8000)}`;
  const fill = (line: string): string => `user-agent: *\n${line.repeat(Math.floor(5_000_000 / line.length))}`;
  for (const line of ["\n", "a\n", "a:\n", "disallow: /*aaaaaab\n", "allow: *a*a*a*b$\n", "user-agent: x\n", " "]) {
    expect(robotsAllowed(fill(line), ["bot"], path)).toBe(true);
  }
});
