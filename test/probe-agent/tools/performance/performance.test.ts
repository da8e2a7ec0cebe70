import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { performance as tool } from "#probe-agent/tools/performance/performance.ts";
import { startHttpServer, type Handler, type HttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { startSite, type SitePath } from "#test/support/page.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const keep = closeAfterEach();

async function serve(paths: Readonly<Record<string, SitePath>>): Promise<HttpServer> {
  return keep(await startSite(paths));
}

async function handle(handler: Handler): Promise<HttpServer> {
  return keep(await startHttpServer({ handler }));
}

const check = (result: { readonly checks: readonly { readonly id: string }[] }, id: string) =>
  result.checks.find((one) => one.id === id);

describe("a page", () => {
  const TEXT = "word ".repeat(1000);
  const HTML = `<!doctype html><head><link rel=preconnect href=https://fonts.example><link rel=preload as=font href=/f.woff2>
    <link rel=stylesheet href=/a.css><script src=/a.js></script><link rel=stylesheet href=http://localhost:9/x.css></head>
    <body><img src=/a.png width=1 height=1><img loading=lazy src=/b.webp><p>${TEXT}`;
  const LONG = { "cache-control": "max-age=31536000, immutable" };
  const paths = {
    "/": { headers: { "content-encoding": "gzip", "cache-control": "max-age=60", etag: '"1"' }, body: gzipSync(HTML) },
    "/a.css": { type: "text/css", headers: LONG, body: TEXT },
    "/a.js": { type: "text/javascript", headers: { ...LONG, "content-encoding": "gzip" }, body: gzipSync(TEXT) },
    "/a.png": { type: "image/png", headers: { "cache-control": "max-age=60" }, body: Buffer.alloc(3000) },
    "/b.webp": { type: "image/webp", headers: { ...LONG, "cache-control": "no-cache" }, body: Buffer.alloc(200) },
    "/f.woff2": { type: "font/woff2", headers: LONG, body: Buffer.alloc(400) },
  };

  it("is timed three times and reported with all its resources and a score", async () => {
    const server = await serve(paths);
    const result = await resultOf(tool, { url: server.url });
    expect(server.requests.filter(({ path }) => path === "/")).toHaveLength(3);
    expect(result.samples).toHaveLength(3);
    const { timing } = result;
    const { redirect_count: _count, ...phases } = timing;
    expect(Object.values(phases).reduce((sum, ms) => sum + ms, 0)).toBe(result.total_ms);
    expect(result.navigation_ttfb_ms).toBe(result.total_ms - timing.transfer_ms);
    const sorted = result.samples.map(({ navigation_ttfb_ms: ms }) => ms).toSorted((one, other) => one - other);
    expect(result.navigation_ttfb_ms).toBe(sorted[1]);
    expect(result).toMatchObject({
      code: 200,
      html: {
        transfer_bytes: paths["/"].body.length,
        decoded_bytes: HTML.length,
        encoding: "gzip",
        truncated: false,
        chunked: false,
      },
      dom: { elements: 10 },
      images: { total: 2, lazy: 1, missing_dimensions: 1, modern_formats: 1, known_formats: 2 },
      protocol: { http_version: "1.1", tls: null, alt_svc_h3: false },
      cache_policy: { cache_control: "max-age=60", browser: { fresh_s: 60, from: "max-age" }, etag: '"1"' },
      preload: [{ url: `${server.url}/f.woff2`, as: "font", from: "html" }],
      preconnect: [{ origin: "https://fonts.example", rel: "preconnect", from: "html" }],
      preconnect_missing: ["http://localhost:9"],
      lab_vitals: null,
      connection_reuse: { reusable: null },
    });
    const { resources } = result;
    expect(resources).toMatchObject({
      total: 6,
      measured: 6,
      count: { stylesheet: 2, script: 1, image: 2, font: 1 },
      bytes: { stylesheet: TEXT.length, image: 3200, font: 400 },
      unknown_sizes: 1,
      third_party: { count: 1, hosts: [{ host: "localhost", count: 1 }] },
      render_blocking_total: 3,
      without_compression: [{ url: `${server.url}/a.css`, type: "stylesheet", bytes: TEXT.length, third_party: false }],
      without_cache: [
        { url: `${server.url}/a.png`, type: "image", cache_control: "max-age=60", fresh_s: 60 },
        { url: `${server.url}/b.webp`, cache_control: "no-cache", fresh_s: null },
      ],
    });
    expect(resources.render_blocking.map(({ url }) => url)).toEqual([
      `${server.url}/a.css`,
      `${server.url}/a.js`,
      "http://localhost:9/x.css",
    ]);
    expect(resources.failed.map(({ url }) => url)).toEqual(["http://localhost:9/x.css"]);
    const counted = result.checks.filter(({ status }) => status !== "na");
    const earned = counted.reduce((sum, { score }) => sum + score, 0);
    const possible = counted.reduce((sum, { max }) => sum + max, 0);
    expect(result.score).toBe(Math.round((100 * earned) / possible));
    expect(check(result, "compression")).toMatchObject({ value: "2 of 3", status: "warn" });
    expect(check(result, "caching")).toMatchObject({ value: "3 of 5", status: "warn" });
    expect(check(result, "render_blocking")).toMatchObject({ value: "3" });
  });

  it("has a finding for each check that does not pass, and for causes that no check covers", async () => {
    const server = await serve({ ...paths, "/a.png": { status: 404, body: "none" } });
    const { checks, findings } = await resultOf(tool, { url: server.url });
    expectWellFormed(findings);
    const wanting = checks.filter(({ status }) => status === "warn" || status === "fail");
    expect(findings.map(({ id }) => id).toSorted()).toEqual(
      [...wanting.map(({ id }) => id.replaceAll("_", "-")), "preconnect-missing", "resource-errors"].toSorted(),
    );
    const how = '<link rel="preconnect" href="http://localhost:9">';
    expect(findings.find(({ id }) => id === "preconnect-missing")?.how).toContain(how);
    expect(findings).toContainEqual(
      expect.objectContaining({ id: "resource-errors", severity: "warning", where: `${server.url}/a.png` }),
    );
  });
});

describe("protocol and streams", () => {
  it("include HTTP/2, its connection, and HTTP/3 by Alt-Svc", async () => {
    const pki = await createPki();
    const leaf = await pki.issue({ ip: ["127.0.0.1"] });
    const server = await startHttpServer({
      tls: identityOf(leaf, pki.intermediate),
      h2: true,
      handler: (_request, response) => {
        response.writeHead(200, { "content-type": "text/html", "alt-svc": 'h3=":443"; ma=60' }).end("<p>x");
        return true;
      },
    });
    keep(server);
    const result = await resultOf(tool, { url: server.url }, { roots: [pki.root.pem] });
    expect(result).toMatchObject({
      protocol: { http_version: "2", tls: "TLSv1.3", alt_svc_h3: true },
      connection_reuse: { reusable: true },
      html: { chunked: null },
    });
  });

  it("include a chunked page, and redirects as part of the time", async () => {
    const server = await handle((_request, response, { path }) => {
      if (path === "/") response.writeHead(302, { location: "/page" }).end();
      else {
        response.writeHead(200, { "content-type": "text/html" });
        response.write("<p>one");
        response.end("<p>two");
      }
      return true;
    });
    const result = await resultOf(tool, { url: server.url });
    expect(result).toMatchObject({
      html: { chunked: true, transfer_bytes: 12 },
      timing: { redirect_count: 1 },
      dom: { elements: 2 },
    });
    expect(check(result, "redirects")).toMatchObject({ value: "1", status: "pass" });
  });

  it("rate a slow first byte", async () => {
    const server = await handle((_request, response) => {
      setTimeout(() => response.writeHead(200, { "content-type": "text/html" }).end("<p>x"), 900);
      return true;
    });
    const result = await resultOf(tool, { url: server.url });
    expect(result.ttfb_rating).not.toBe("good");
    expect(check(result, "ttfb")).toMatchObject({ status: expect.stringMatching(/^(?:warn|fail)$/) as string });
  });
});

describe("a response that is not a page", () => {
  it("is timed and weighed if it is not HTML", async () => {
    const { url } = await serve({ "/": { type: "application/json", body: "{}" } });
    const result = await resultOf(tool, { url });
    expect(result).toMatchObject({ dom: null, images: null, resources: { total: 0 } });
    expect(result.limitations.join()).toContain("not HTML");
  });

  it("has no score if it is an error page, and is not a sample of another page", async () => {
    let asked = 0;
    const server = await handle((_request, response) => {
      asked += 1;
      response.writeHead(asked === 1 ? 200 : 429, { "content-type": "text/html" }).end("<p>x");
      return true;
    });
    const limited = await resultOf(tool, { url: server.url });
    expect(limited.samples).toHaveLength(1);
    expect(limited.limitations.join()).toContain("1 of 3 samples");
    const refused = await resultOf(tool, { url: server.url });
    expect(refused).toMatchObject({ code: 429, score: null, grade: null });
    expect(kinds(refused.findings)).toEqual(["warning error-page"]);
  });
});

describe("hostile pages", () => {
  it("stay below the size of a result", async () => {
    const long = "%F0%9F%92%A9".repeat(150);
    const html = Array.from(
      { length: 900 },
      (_, n) =>
        `<script src="/${n}${long}"></script><link rel=preconnect href="//h${n}.example"><link rel=preload as="${long}" href="/p${n}${long}">`,
    ).join("");
    const server = await handle((_request, response, { path }) => {
      if (path === "/")
        response.writeHead(200, { "content-type": "text/html", "cache-control": "x=".repeat(3000) }).end(html);
      else response.writeHead(200, { "content-type": "text/javascript" }).end("y".repeat(2000));
      return true;
    });
    const result = await resultOf(tool, { url: server.url });
    expect(JSON.stringify(result).length).toBeLessThan(200_000);
    expect(result.resources.render_blocking_total).toBe(900);
  });

  it("are answered in time: an endless body, 300,000 elements", async () => {
    const server = await handle((_request, response, { path }) => {
      response.writeHead(200, { "content-type": "text/html" });
      const piece = "<p>".repeat(20_000);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once("drain", more);
      };
      if (path === "/") more();
      return true;
    });
    const { outcome } = await runTool(tool, { url: server.url });
    expect(outcome).toMatchObject({ status: "ok", data: { html: { truncated: true } } });
  });
});
