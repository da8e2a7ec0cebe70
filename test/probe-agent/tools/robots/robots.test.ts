import { kinds } from "#test/support/findings.ts";
import { describe, expect, it } from "vitest";
import { robots } from "#probe-agent/tools/robots/robots.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let answer: { status: number; body: string | Buffer; headers?: Record<string, string> };

const site = await stopAfterAll(
  startHttpServer({
    handler: (_request, response, { path }) => {
      if (path !== "/robots.txt") return false;
      response.writeHead(answer.status, { "content-type": "text/plain", ...answer.headers }).end(answer.body);
      return true;
    },
  }),
);

const FILE = `# comment
User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 5
Content-Signal: search=yes, ai-train=no

User-agent: GPTBot
User-agent: CCBot
Disalow: /
Sitemap: https://example.com/map.xml
Host: example.com
this is no line
`;

async function ask(test_url?: string, domain = `127.0.0.1:${site.port}`) {
  return resultOf(robots, { domain, ...(test_url === undefined ? {} : { test_url }) });
}

const verdictOf = (result: Awaited<ReturnType<typeof ask>>, ua: string) =>
  result.test.user_agents.find((one) => one.ua === ua);

describe("a site's rules for crawlers", () => {
  it("are read completely, with their problems", async () => {
    answer = { status: 200, body: FILE };
    const result = await ask("/private/secret");
    expect(result).toMatchObject({
      availability: "parsed",
      code: 200,
      fetched_url: `${site.url}/robots.txt`,
      size_bytes: FILE.length,
      groups: [
        { user_agents: ["*"], crawl_delay: 5, rules: [{ type: "disallow", pattern: "/private/" }, { type: "allow" }] },
        { user_agents: ["GPTBot", "CCBot"], rules: [{ type: "disallow", pattern: "/", line: 10 }] },
      ],
      sitemaps: ["https://example.com/map.xml"],
      content_signals: { search: true, ai_input: null, ai_train: false },
      limitations: [],
    });
    expect(result.unknown_lines.map(({ key }) => key)).toEqual(["Crawl-delay", "Content-Signal", "Host"]);
    expect(verdictOf(result, "Googlebot")).toEqual({
      ua: "Googlebot",
      allowed: false,
      matched_rule: "disallow: /private/",
      line: 3,
      group: "global",
    });
    expect(verdictOf(await ask("/private/open/page"), "*")).toMatchObject({
      allowed: true,
      matched_rule: "allow: /private/open",
    });
  });

  it("are tested for crawlers of AI services", async () => {
    answer = { status: 200, body: FILE };
    const { ai_bots: ai } = await ask();
    expect(ai.bots.find(({ name }) => name === "GPTBot")).toMatchObject({
      allowed: false,
      named: true,
      purpose: "train",
    });
    expect(ai.bots.find(({ name }) => name === "ClaudeBot")).toMatchObject({ allowed: true, named: false });
    expect(ai.allowed + ai.disallowed).toBe(ai.bots.length);
    expect(ai.bots.length).toBeGreaterThanOrEqual(30);
  });

  it.each([
    [404, "allow_all", true],
    [503, "disallow_all", false],
  ])("with status %i mean %s", async (status, availability, allowed) => {
    answer = { status, body: "User-agent: *\nDisallow: /only-if-read" };
    const result = await ask();
    expect(result).toMatchObject({ code: status, availability, groups: allowed ? [] : [{ user_agents: ["*"] }] });
    expect(verdictOf(result, "*")?.allowed).toBe(allowed);
  });

  it("can be HTML, behind redirects or in any encoding", async () => {
    const headers = { "content-type": "text/html" };
    answer = { status: 200, body: "<!doctype html><html><title>Not found</title>", headers };
    expect(kinds((await ask()).findings)).toContain("warning not-robots-txt");
    answer = { status: 302, body: "", headers: { location: "/bytes/10" } };
    expect(await ask()).toMatchObject({ code: 200, fetched_url: `${site.url}/bytes/10` });
    answer = { status: 200, body: Buffer.from("\u00EF\u00BB\u00BFUser-agent: *\rDisallow: /\u00E9", "latin1") };
    expect((await ask()).groups).toMatchObject([{ rules: [{ pattern: "/%E9" }] }]);
  });

  it("are read up to 500 KiB for a file of any size", async () => {
    const rule = "Disallow: /*a*b*c*d*e*f*g*h$\n";
    answer = { status: 200, body: `User-agent: *\n${rule.repeat(180_000)}` };
    const result = await ask(`/${"abcdefg".repeat(800)}`);
    expect(result).toMatchObject({ truncated: true, size_bytes: 500 * 1024 });
    expect(JSON.stringify(result).length).toBeLessThan(256_000);
    expect(result.limitations[0]).toMatch(/^Only \d+ of \d+ rules are shown/);
  });

  it.each([
    ["/reset", "the server reset the connection"],
    ["/short", "the connection was closed before the end"],
  ])("that were cut short (%s) are reported as incomplete", async (location, words) => {
    answer = { status: 302, body: "", headers: { location } };
    expect((await ask()).findings[0]).toMatchObject({ id: "cut-short", message: expect.stringContaining(words) });
  });

  it("are fetched over http if https does not answer, or from the given URL", async () => {
    answer = { status: 200, body: "User-agent: *\nDisallow:" };
    expect((await ask(undefined, `${site.url}/some/page?x=1`)).fetched_url).toBe(`${site.url}/robots.txt`);
  });

  it("are tested with a URL of the site, or without one", async () => {
    answer = { status: 200, body: "" };
    const { outcome } = await runTool(robots, { domain: site.url, test_url: "ftp://a.example/" });
    expect(outcome).toMatchObject({ status: "invalid", field: "test_url" });
    const host = `127.0.0.1:${site.port}`;
    for (const [written, path] of [
      [`${host}/private/x?y`, "/private/x?y"],
      [host, "/"],
      [`${host}x/y`, `/${host}x/y`],
      ["private", "/private"],
    ] as const) {
      expect((await ask(written, site.url)).test.url).toBe(`${site.url}${path}`);
    }
    expect((await ask("https://other.example/")).limitations.join()).toContain("another host");
  });
});
