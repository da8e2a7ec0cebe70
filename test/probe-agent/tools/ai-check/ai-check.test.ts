import { describe, expect, it } from "vitest";
import { aiCheck } from "#probe-agent/tools/ai-check/ai-check.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { resultOf } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

interface File {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

let files: Record<string, File> = {};

const site = await stopAfterAll(
  startHttpServer({
    handler: (request, response, { path }) => {
      const wantsMarkdown = String(request.headers.accept).includes("text/markdown");
      const file = (wantsMarkdown ? files[`md ${path}`] : undefined) ?? files[path];
      if (file === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("none\n");
      else
        response
          .writeHead(file.status ?? 200, { "content-type": file.type ?? "text/plain", ...file.headers })
          .end(file.body);
      return true;
    },
  }),
);

const WORDS = Array.from({ length: 300 }, (_, at) => `word${at}`).join(" ");
const PAGE = `<!doctype html><html lang=en><title>Shop</title><meta name=description content="A shop">
<link rel=alternate type=application/rss+xml href=/feed.xml><link rel=alternate type=text/markdown href=/index.md>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Organization","name":"Shop"}</script>
<header></header><nav></nav><main><article><h1>Shop</h1><h2>About</h2><p>${WORDS}</p></article></main><footer></footer>`;

const READY: Record<string, File> = {
  "/": { type: "text/html", body: PAGE },
  "md /": { type: "text/markdown; charset=utf-8", body: "# Shop" },
  "/robots.txt": {
    body: "User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nAllow: /\nSitemap: /map.xml\n\nUser-agent: GPTBot\nDisallow: /\n",
  },
  "/llms.txt": { body: "# Shop\n> All about it\n## Docs\n- [Start](/start.md): first\n" },
  "/ai.txt": { body: "User-Agent: *\nDisallow: /\n" },
  "/.well-known/tdmrep.json": { type: "application/json", body: '[{"location":"/","tdm-reservation":1}]' },
  "/.well-known/mcp.json": { type: "application/json", body: '{"name":"shop"}' },
};

async function ask() {
  return resultOf(aiCheck, { domain: `127.0.0.1:${site.port}` });
}

describe("readiness for AI", () => {
  it("finds everything that a well-prepared site publishes", async () => {
    files = READY;
    const result = await ask();
    expect(result).toMatchObject({
      score: 100,
      grade: "A+",
      findings: [],
      code: 200,
      content_signals: { search: true, ai_input: true, ai_train: false },
      llms_txt: {
        exists: true,
        valid: true,
        title: "Shop",
        summary: "All about it",
        sections: [{ name: "Docs", links: 1 }],
      },
      llms_full_txt: { exists: false, code: 404, bytes: null },
      ai_txt: { exists: true },
      tdmrep: { exists: true, reserved: true },
      mcp: { found: true, url: `${site.url}/.well-known/mcp.json` },
      meta: { noai: false, noimageai: false, nosnippet: false },
      structured_data: { found: true, types: ["Organization"] },
      sitemap: { found: true, urls: ["/map.xml"] },
      semantic_html: {
        main: true,
        article: true,
        nav: true,
        header: true,
        footer: true,
        h1: 1,
        headings_ordered: true,
      },
      feeds: [{ type: "application/rss+xml", url: `${site.url}/feed.xml` }],
      md_alternate: { negotiated: true, linked: `${site.url}/index.md` },
      limitations: [],
    });
    expect(result.ssr_words).toBeGreaterThanOrEqual(300);
    expect(result.robots.bots.find(({ name }) => name === "GPTBot")).toMatchObject({
      allowed: false,
      purpose: "train",
    });
  });

  it("accepts that a site blocks training crawlers, but reports that it blocks all the others", async () => {
    files = { ...READY, "/robots.txt": { body: "User-agent: *\nDisallow: /\n" } };
    const { checks, score, findings } = await ask();
    expect(checks.find(({ id }) => id === "crawlers")).toMatchObject({ score: 0, status: "fail" });
    expect(score).toBeLessThan(90);
    expect(findings[0]).toMatchObject({ id: "crawlers", severity: "warning", where: "/robots.txt" });
    expect(findings[0]?.message).toMatch(/ 0 of \d+ crawlers .* blocks .*OAI-SearchBot.* and others\.$/);
  });

  it("reports a page in place of llms.txt as a missing file, and counts no words in an app shell", async () => {
    const shell = '<!doctype html><html><body><div id="root"></div><script src="/app.js"></script></body></html>';
    const page: File = { type: "text/html", body: shell };
    files = { "/": page, "/llms.txt": page, "/robots.txt": page, "/sitemap.xml": page };
    const result = await ask();
    expect(result.llms_txt).toMatchObject({ exists: false, code: 200 });
    expect(result.findings).toContainEqual(
      expect.objectContaining({
        id: "llms-txt",
        message: "There is no /llms.txt: an HTML page is served in its place.",
      }),
    );
    expect(kinds(result.findings)[0]).toBe("warning robots");
    expectWellFormed(result.findings);
    expect(result).toMatchObject({
      grade: "F",
      ssr_words: 0,
      sitemap: { found: false },
      md_alternate: { negotiated: false },
    });
  });

  it("reads the directives for crawlers in meta elements", async () => {
    files = { "/": { type: "text/html", body: '<meta name=robots content="noai, noimageai, max-snippet:0">' } };
    expect((await ask()).meta).toMatchObject({ noai: true, noimageai: true, nosnippet: true });
  });

  it("gives a page's own statements on AI use precedence over files for the site", async () => {
    const reserved = { "/.well-known/tdmrep.json": { body: '[{"location":"/","tdm-reservation":1}]' } };
    const page = (body: string, headers: Record<string, string> = {}) => ({ type: "text/html", body, headers });
    const statements = async () => {
      const { tdmrep, content_usage: usage, checks } = await ask();
      return [tdmrep.reserved, usage, checks.find(({ id }) => id === "preference")?.status];
    };
    files = { "/": page("<p>") };
    expect(await statements()).toEqual([null, null, "fail"]);
    files = { "/": page("<p>", { "tdm-reservation": "1", "content-usage": "train-ai=n" }) };
    expect(await statements()).toEqual([true, "train-ai=n", "pass"]);
    files = { ...reserved, "/": page('<meta name="tdm-reservation" content="0">', { "tdm-reservation": "1" }) };
    expect((await statements())[0]).toBe(false);
    files = { ...reserved, "/": page("<p>", { "tdm-reservation": "x" }) };
    expect((await statements())[0]).toBe(true);
  });

  it("leaves out the page's part if the response is not HTML", async () => {
    files = { "/": { type: "application/json", body: "{}" } };
    const result = await ask();
    expect(result).toMatchObject({ semantic_html: null, ssr_words: null, text_ratio: null });
    expect(result.checks.find(({ id }) => id === "static_text")).toMatchObject({ status: "na" });
    expect(result.limitations.join()).toContain("not HTML");
  });

  it("stays within its bounds on a huge page", async () => {
    files = {
      "/": { type: "text/html", body: `<main>${"<article><h1>x</h1><p>word </p></article>".repeat(100_000)}` },
    };
    const result = await ask();
    expect(JSON.stringify(result).length).toBeLessThan(256_000);
    expect(result.semantic_html?.h1).toBeGreaterThan(1_000);
  });
});
