import { beforeEach, describe, expect, it } from "vitest";
import { cms } from "#probe-agent/tools/cms/cms.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { resultOf } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Files = Readonly<
  Record<
    string,
    string | { readonly status?: number; readonly type?: string; readonly to?: string; readonly body?: string }
  >
>;

let files: Files = {};

const elsewhere = await stopAfterAll(
  startHttpServer({
    handler: (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"namespaces":["wp/v2"]}');
      return true;
    },
  }),
);
const site = await stopAfterAll(
  startHttpServer({
    handler: (_request, response, { path }) => {
      const file = files[path];
      if (file === undefined) {
        response.writeHead(404, { "content-type": "text/html" }).end("<!doctype html><title>Nothing</title>");
        return true;
      }
      const { status = 200, type = "text/html", to, body = "" } = typeof file === "string" ? { body: file } : file;
      response.writeHead(status, { "content-type": type, ...(to === undefined ? {} : { location: to }) }).end(body);
      return true;
    },
  }),
);

beforeEach(() => {
  files = {};
});

async function detectOn(serve: Files) {
  files = serve;
  const before = site.requests.length;
  const result = await resultOf(cms, { url: `${site.url}/` });
  const asked = site.requests.slice(before).map(({ path }) => path);
  return { result, asked: asked.filter((path) => path !== "/" && path !== "/robots.txt") };
}

function page(head: string, body = ""): string {
  return `<!doctype html><html><head><title>Site</title>${head}</head><body>${body}</body></html>`;
}

const json = (value: unknown) => ({ type: "application/json", body: JSON.stringify(value) });
const xml = (body: string) => ({ type: "application/rss+xml", body: `<?xml version="1.0"?>${body}` });
const text = (body: string) => ({ type: "text/plain", body });

describe("a system that names itself", () => {
  it("is reported with version, theme, plugins and page builder", async () => {
    const { result } = await detectOn({
      "/": page(
        `<meta name="generator" content="WordPress 6.4.2"><meta name="generator" content="Elementor 3.18.3">
         <link rel="stylesheet" href="/wp-content/themes/astra/style.css?ver=4.6.0">
         <link rel="stylesheet" href="/wp-content/plugins/contact-form-7/a.css?ver=5.8.5">`,
        '<div class="woocommerce-x"></div>',
      ),
    });
    expect(result).toMatchObject({
      detected: true,
      cms: { name: "WordPress", slug: "wordpress", version: "6.4.2", confidence: 100, headless: false },
      theme: { name: "astra", version: "4.6.0" },
      plugins: [{ name: "contact-form-7", version: "5.8.5", source: "assets" }],
      page_builders: ["Elementor"],
      ecommerce: null,
      latest_version: null,
    });
    expect(result.cms?.cpe).toBe("cpe:2.3:a:wordpress:wordpress:6.4.2:*:*:*:*:*:*:*");
    expect(result.limitations.join(" ")).toMatch(/no list of releases/);
  });

  it("can be a shop alone", async () => {
    const { result } = await detectOn({
      "/": page(
        `<script src="https://cdn.shopify.com/s/a.js"></script>
         <script>Shopify.theme = {"name":"My \\u0041","id":1,"schema_name":"Dawn","schema_version":"15.0.0"};</script>`,
      ),
      "/meta.json": json({ id: 1, myshopify_domain: "made.myshopify.com" }),
    });
    expect(result).toMatchObject({
      cms: { name: "Shopify" },
      ecommerce: "Shopify",
      theme: { name: "Dawn", version: "15.0.0" },
    });
    expect(result.cms?.evidence.at(-1)).toEqual({ type: "path", match: "/meta.json: made.myshopify.com" });
  });

  it.each([
    ["Contentful", "https://images.ctfassets.net/s/a.jpg"],
    ["WordPress", "https://cms.example.com/wp-content/uploads/a.jpg"],
  ])("is headless if another program renders its content: %s", async (name, image) => {
    const { result } = await detectOn({
      "/": page('<script src="/_next/static/a.js"></script>', `<img src="${image}">`),
    });
    expect(result.cms).toMatchObject({ name, headless: true });
  });
});

describe("a system whose name was removed", () => {
  it("is found with the version in its feed and the plugins in its REST index", async () => {
    const { result, asked } = await detectOn({
      "/": page('<link rel="stylesheet" href="/blog/wp-content/themes/x/style.css">'),
      "/blog/wp-json/": json({
        name: "x",
        namespaces: ["oembed/1.0", "wp/v2", "wp-site-health/v1", "yoast/v1", "wc/v3", "wc/v2"],
      }),
      "/blog/feed/": xml("<rss><channel><generator>https://wordpress.org/?v=6.3.1</generator></channel></rss>"),
    });
    expect(asked.toSorted()).toEqual(["/blog/feed/", "/blog/wp-json/"]);
    expect(result.cms).toMatchObject({ name: "WordPress", version: "6.3.1", confidence: 100 });
    expect(result.cms?.evidence.filter(({ type }) => type === "path")).toEqual([
      { type: "path", match: "/blog/wp-json/: namespace wp/v2" },
      { type: "path", match: "/blog/feed/: <generator>https://wordpress.org/?v=6.3.1" },
    ]);
    expect(result.plugins.map(({ name, source }) => `${name} ${source}`)).toEqual(["wc rest_api", "yoast rest_api"]);
    expect(result.source).toContain("well_known_files");
  });

  it("is confirmed by a well-known file, and no page for people who sign in is requested", async () => {
    const path = "/w/api.php?action=query&meta=siteinfo&format=json";
    const { result, asked } = await detectOn({
      "/": page('<script src="/load.php?lang=en"></script>'),
      [path]: json({ query: { general: { generator: "MediaWiki 1.39.3" } } }),
    });
    expect(result.cms).toMatchObject({ name: "MediaWiki", version: "1.39.3", confidence: 100 });
    expect(asked.toSorted()).toEqual(["/api.php?action=query&meta=siteinfo&format=json", path]);
  });

  it.each<[what: string, serve: Files, before: object]>([
    [
      "one whose images a page of another site shows",
      { "/": page("", '<img src="https://blog.example.com/wp-content/uploads/a.jpg">') },
      { detected: false, cms: null, theme: null, plugins: [], candidates: [{ name: "WordPress", confidence: 30 }] },
    ],
    [
      "one that robots.txt shows",
      { "/": page(""), "/robots.txt": text("User-agent: *\nDisallow: /wp-admin/") },
      { cms: { name: "WordPress", confidence: 50 } },
    ],
  ])("is confirmed by its files: %s", async (_what, serve, before) => {
    expect((await detectOn(serve)).result).toMatchObject(before);
    const { result } = await detectOn({ ...serve, "/wp-json/": json({ namespaces: ["wp/v2"] }) });
    expect(result.cms).toMatchObject({ name: "WordPress", confidence: 100 });
  });
});

describe("files that only look like those of a system", () => {
  it("with an error as their status confirm nothing", async () => {
    const file = { status: 500, ...json({ namespaces: ["wp/v2"] }) };
    const { result } = await detectOn({
      "/": page('<meta name="generator" content="WordPress 6.4">'),
      "/wp-json/": file,
      "/feed/": file,
    });
    expect(result.cms?.evidence.some(({ type }) => type === "path")).toBe(false);
    expect(result.cms?.version).toBe("6.4");
    expect(result.limitations.join(" ")).toMatch(/well-known files could be read/);
  });

  it("on another site confirm nothing", async () => {
    const { result } = await detectOn({
      "/": page('<meta name="generator" content="WordPress">'),
      "/wp-json/": { status: 302, to: `${elsewhere.url}/wp-json/` },
    });
    expect(result.cms?.evidence.some(({ type }) => type === "path")).toBe(false);
  });
});

describe("a site without a system", () => {
  it("reports none, and requests only the page and robots.txt", async () => {
    const { result, asked } = await detectOn({ "/": page("", "<h1>WordPress compared with Drupal</h1>") });
    expect(result).toMatchObject({ detected: false, cms: null, candidates: [], ecommerce: null });
    expect(result.limitations.join(" ")).toMatch(/No system was detected/);
    expect(asked).toEqual([]);
  });

  it("is checked even if the response is not HTML", async () => {
    const { result } = await detectOn({ "/": { type: "application/json", body: "{}" } });
    expect(result.detected).toBe(false);
    expect(result.limitations.join(" ")).toMatch(/not HTML/);
  });
});
