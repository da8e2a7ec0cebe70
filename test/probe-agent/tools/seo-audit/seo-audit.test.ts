import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seoAudit } from "#probe-agent/tools/seo-audit/seo-audit.ts";
import { createPki, type Pki } from "#test/servers/pki.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { expectWellFormed } from "#test/support/findings.ts";
import { startSite, type SitePath } from "#test/support/page.ts";
import { resultOf } from "#test/support/tool.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const keep = closeAfterEach();

async function site(paths: Readonly<Record<string, SitePath>>): Promise<HttpServer> {
  return keep(await startSite(paths));
}

const text = (body: string): SitePath => ({ type: "text/plain", body });
const SITEMAP: SitePath = {
  type: "application/xml",
  body: '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>',
};

/**
 * Time of a job whose page takes much processor time, which has a limit of its own. Threads have a low priority, so that
 * they hardly run while other programs keep the processors busy.
 */
const PATIENT_MS = 250_000;

async function audit(paths: Readonly<Record<string, SitePath>>, path = "/", timeoutMs?: number) {
  const { url } = await site(paths);
  return resultOf(seoAudit, { url: `${url}${path}` }, timeoutMs === undefined ? {} : { timeoutMs });
}

const checkOf = (result: Awaited<ReturnType<typeof audit>>, id: string) =>
  result.checks.find((check) => check.id === id);

describe("a site without faults over HTTPS", () => {
  let pki: Pki;
  let dns: DnsServer;
  beforeAll(async () => {
    pki = await createPki();
    dns = await startDnsServer({ zones: { "site.test": { A: ["127.0.0.1"] } } });
  });
  afterAll(() => dns.close());

  it("scores 100", async () => {
    const leaf = await pki.issue({ dns: ["site.test"] });
    let page = "";
    const server = await startHttpServer({
      name: "site.test",
      tls: identityOf(leaf),
      handler: (_request, response, { path }) => {
        if (path === "/robots.txt") {
          response
            .writeHead(200, { "content-type": "text/plain" })
            .end(`User-agent: *\nDisallow: /private\nSitemap: ${server.url}/map.xml.gz\n`);
        } else if (path === "/map.xml.gz") {
          response.writeHead(200, { "content-type": "application/gzip" }).end(gzipSync("<urlset/>"));
        } else if (path === "/guide") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
        else return false;
        return true;
      },
    });
    keep(server);
    page =
      `<!doctype html><html lang="en"><head><title>A guide to pages that can be found</title><link rel="icon" href="/i.svg">` +
      `<meta name="description" content="How to write pages that people find, read and remember, in a few easy steps.">` +
      `<meta name="viewport" content="width=device-width"><link rel="canonical" href="${server.url}/guide">` +
      ["title", "type", "image", "url"].map((name) => `<meta property="og:${name}" content="${server.url}">`).join("") +
      `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","headline":"A guide"}</script></head>` +
      `<body><h1>A guide</h1><h2>First</h2><p>Words that say something.</p><img src="/x.png" alt="A page"><a href="/prices">Our prices</a></body></html>`;
    const result = await resultOf(
      seoAudit,
      { url: `${server.url}/guide` },
      { dnsServers: [dns.address], roots: [pki.root.pem] },
    );
    expect(result.checks.filter(({ status }) => status === "fail")).toEqual([]);
    expect(result).toMatchObject({
      code: 200,
      score: 100,
      grade: "A+",
      title: { text: "A guide to pages that can be found", length: 34 },
      headings: { h1: 1, h2: 1, h3: 0, outline_ok: true },
      images: { total: 1, missing_alt: [] },
      links: { internal: 1, external: 0 },
      indexable: { value: true, blocked_by: [] },
      lang: { value: "en", valid: true },
      word_count: 9,
      sitemap: { found: true, source: "robots_txt", urls: [`${server.url}/map.xml.gz`] },
      structured_data: { json_ld: 1, types: ["Article"] },
      favicon: { url: `${server.url}/i.svg`, declared: true },
      findings: [],
      source: ["page", "robots.txt", "sitemap"],
    });
    expect(result.title?.px).toBeGreaterThan(250);
  });
});

describe("a site with faults", () => {
  it("gets a finding for each of them", async () => {
    const result = await audit({
      "/": {
        headers: {
          "x-robots-tag": ["otherbot: noindex", "unavailable_after: 25 Jun 2010 15:00:00 PST"],
          link: "<relative>; rel=canonical",
        },
        body: "<title></title><h2>No first</h2><h4>x</h4><img src=a.png><a href=/x>click here</a><a href='javascript:void(0)'>go</a>",
      },
      "/robots.txt": text("User-agent: *\nnonsense without meaning here\n"),
    });
    expect(result.checks.filter(({ status }) => status === "pass").map(({ id }) => id)).toEqual(["http-status-code"]);
    expect(result.grade).toBe("F");
    expect(result.indexable).toMatchObject({ value: false, blocked_by: [{ source: "x_robots_tag", user_agent: "*" }] });
    expect(result.x_robots_tag).toMatchObject([
      { user_agent: "otherbot", directives: ["noindex"], expired: null },
      { user_agent: "*", unavailable_after: "2010-06-25T23:00:00.000Z", expired: true },
    ]);
    expect(result).toMatchObject({
      title: null,
      meta_description: null,
      lang: null,
      viewport: null,
      favicon: { url: null, declared: false },
    });
    expect(result.canonical).toMatchObject({ source: "http_header", self: false });
    const failed = result.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
    expect(result.findings.map(({ id }) => id).toSorted()).toEqual(failed.toSorted());
    expectWellFormed(result.findings);
    expect(result.sitemap).toMatchObject({ found: false, source: "default", checked: { code: 404 } });
  });

  it("that blocks crawlers in robots.txt gets the line, and a sitemap at the default place is found", async () => {
    const result = await audit(
      {
        "/shop": "<title>Shop</title>",
        "/robots.txt": text("User-agent: *\nDisallow: /sh*p$\n"),
        "/sitemap.xml": SITEMAP,
        "/favicon.ico": { type: "image/x-icon", body: "\0\0\x01\0" },
      },
      "/shop",
    );
    expect(result.indexable.blocked_by).toEqual([
      { source: "robots_txt", user_agent: "*", rule: "Disallow: /sh*p$ (line 2)" },
    ]);
    expect(checkOf(result, "is-crawlable")).toMatchObject({
      status: "fail",
      value: "robots_txt: Disallow: /sh*p$ (line 2)",
    });
    expect(result.sitemap).toMatchObject({ found: true, source: "default" });
    expect(result.favicon).toMatchObject({ declared: false, url: expect.stringMatching(/favicon\.ico$/) as unknown });
  });

  it("that serves its home page at every address has no robots.txt, no sitemap and no icon", async () => {
    const page = "<!doctype html><title>Home</title>";
    const result = await audit({ "/": page, "/robots.txt": page, "/sitemap.xml": page, "/favicon.ico": page });
    expect(checkOf(result, "robots-txt")).toMatchObject({ status: "fail", value: "HTML" });
    expect(result.sitemap.found).toBe(false);
    expect(result.favicon?.url).toBeNull();
  });
});

describe("a fact that is unknown", () => {
  it("is null with a limitation, if robots.txt and the sitemap never arrive", async () => {
    const { url } = await site({
      "/": "<title>Home</title>",
      "/robots.txt": { status: 302, headers: { location: "/silent" } },
      "/sitemap.xml": { status: 302, headers: { location: "/silent" } },
    });
    const result = await resultOf(seoAudit, { url }, { timeoutMs: 6000 });
    expect(result.indexable.value).toBeNull();
    expect(checkOf(result, "is-crawlable")?.status).toBe("na");
    expect(result.sitemap.found).toBeNull();
    expect(result.limitations.join(" ")).toMatch(/robots\.txt took too long.*The sitemap took too long/);
  });

  it("is null for a response that is not HTML", async () => {
    const result = await audit({ "/": text("just text") });
    expect(result).toMatchObject({
      headings: null,
      links: null,
      images: null,
      word_count: null,
      og: null,
      title: null,
    });
    expect(result.limitations.join(" ")).toMatch(/not HTML/);
  });

  it("does not keep an error page from being audited", async () => {
    const result = await audit({ "/": { status: 503, body: "<title>Down</title>" } });
    expect(result.code).toBe(503);
    expect(result.indexable.value).toBe(false);
    expect(checkOf(result, "http-status-code")).toMatchObject({ status: "fail", value: "503" });
    expect(result.findings[0]).toMatchObject({ id: "http-status-code", severity: "critical" });
  });
});

describe("hostile pages", () => {
  const pages: readonly (readonly [name: string, html: string])[] = [
    ["10 MB of text", `<title>x</title>${"<p>word</p>".repeat(950_000)}`],
    ["100,000 headings", "<h1>x</h1>".repeat(100_000)],
    ["100,000 links", "<a href=/x>click here</a>".repeat(100_000)],
    ["nested links and headings", "<a href=/x><h1>".repeat(20_000)],
    ["images without alt", `<img src="${"x".repeat(200)}">`.repeat(20_000)],
    ["very many hreflang links", "<link rel=alternate hreflang=en-UK href='http://[bad'>".repeat(50_000)],
    [
      "a title of a megabyte",
      `<title>${"é".repeat(1_000_000)}</title><meta name=description content="${"\u0001".repeat(100_000)}">`,
    ],
    ["text without spaces", `<p>${"中文字".repeat(400_000)}`],
    ["deep JSON-LD", `<script type="application/ld+json">${'{"a":['.repeat(100_000)}</script>`],
    [
      "items that include each other",
      "<div itemscope id=a itemref='a b' itemprop=x></div><div id=b itemscope itemprop=y itemref=a></div>".repeat(2000),
    ],
  ];
  it.each(pages)("%s: the result is small enough and in time", async (_name, html) => {
    const result = await audit({ "/": html }, "/", PATIENT_MS);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(256 * 1024);
    expect(result.checks).toHaveLength(20);
  });

  it("a robots.txt with very many rules and sitemaps is read", async () => {
    const robots = `User-agent: *\n${"Disallow: /*a*b*c*d*e$\n".repeat(15_000)}${`Sitemap: https://x.test/${"y".repeat(1000)}\n`.repeat(100)}`;
    const result = await audit({ "/": "<title>x</title>", "/robots.txt": text(robots) });
    expect(result.indexable.value).toBe(true);
    expect(result.sitemap.urls).toHaveLength(20);
  });
});
