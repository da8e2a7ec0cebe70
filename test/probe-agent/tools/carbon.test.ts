import { co2PerVisit } from "#test/entry-points.ts";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { carbon } from "#probe-agent/tools/carbon.ts";
import { startHttpServer, type Handler, type HttpServer } from "#test/servers/http.ts";
import { startSite, type SitePath } from "#test/support/page.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const keep = closeAfterEach();

async function site(paths: Readonly<Record<string, SitePath>>): Promise<HttpServer> {
  return keep(await startSite(paths));
}

async function handle(handler: Handler): Promise<HttpServer> {
  return keep(await startHttpServer({ handler }));
}

/** A stand-in of the Green Web Foundation's API. */
function greenWeb(answer: string, status = 200): Promise<HttpServer> {
  return handle((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(answer);
    return true;
  });
}

const weigh = async (url: string, greencheckUrl?: string) =>
  await resultOf(carbon, { url }, greencheckUrl === undefined ? {} : { services: { greencheckUrl } });

describe("a page and its resources", () => {
  it("are weighed as sent, by kind", async () => {
    const js = gzipSync("x".repeat(50_000));
    const html = `<link rel=stylesheet href=/a.css><script src=/a.js></script><img src=/a.png><img loading=lazy src=/lazy.png>
      <link rel=preload as=font href=/f.woff2><iframe src=/frame></iframe><link rel=manifest href=/app.json>`;
    const { url } = await site({
      "/": html,
      "/a.css": { type: "text/css", body: "p{}".repeat(100) },
      "/a.js": { type: "text/javascript", headers: { "content-encoding": "gzip" }, body: js },
      "/a.png": { type: "image/png", body: Buffer.alloc(7000) },
      "/lazy.png": { type: "image/png", body: Buffer.alloc(900) },
      "/f.woff2": { type: "font/woff2", body: Buffer.alloc(1111) },
      "/frame": "<p>frame",
      "/app.json": { type: "application/json", body: "{}" },
    });
    const result = await weigh(url);
    const own = Buffer.byteLength(html);
    expect(result.bytes).toEqual({
      html: own + 8,
      css: 300,
      js: js.length,
      images: 7900,
      fonts: 1111,
      other: 2,
      total: own + 8 + 300 + js.length + 7900 + 1111 + 2,
    });
    expect(result).toMatchObject({ requests: 8, lazy_bytes: 900, unknown_sizes: 0, model: "swd-v4", rating: "A+" });
    expect(result.co2e_g_per_visit).toBeCloseTo(co2PerVisit(result.bytes.total), 8);
  });

  it("are requested by HEAD if the size is in the head, and by GET if servers compress on the fly", async () => {
    const server = await site({
      "/": "<script src=/a.js></script><img src=/a.png>",
      "/a.js": { type: "text/javascript", body: "1" },
      "/a.png": { type: "image/png", body: Buffer.alloc(500) },
    });
    await weigh(server.url);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      "GET /",
      "GET /a.js",
      "HEAD /a.png",
    ]);
  });

  it("are fetched if HEAD is refused, empty or wrong", async () => {
    const server = await handle((request, response, { path }) => {
      if (path === "/")
        response.writeHead(200, { "content-type": "text/html" }).end("<img src=/405><img src=/0><img src=/none>");
      else if (request.method !== "HEAD")
        response.writeHead(200, { "content-type": "image/png" }).end(Buffer.alloc(1000));
      else if (path === "/405") response.writeHead(405).end();
      else if (path === "/0") response.writeHead(200, { "content-length": "0" }).end();
      else response.writeHead(200).end();
      return true;
    });
    const { bytes, unknown_sizes: unknown } = await weigh(server.url);
    expect([bytes.images, unknown]).toEqual([3000, 0]);
  });

  it("are counted up to 60, and the result says so", async () => {
    const html = Array.from({ length: 90 }, (_, n) => `<img src=/${n}.png>`).join("");
    const server = await handle((_request, response, { path }) => {
      if (path === "/") response.writeHead(200, { "content-type": "text/html" }).end(html);
      else response.writeHead(200, { "content-type": "image/png", "content-length": "10" }).end(Buffer.alloc(10));
      return true;
    });
    const result = await weigh(server.url);
    expect(result).toMatchObject({ requests: 91, unknown_sizes: 30, bytes: { images: 600 } });
    expect(result.limitations.join()).toContain("Resources not measured: 30.");
    expect(server.requests).toHaveLength(61);
  });

  it("are left out if they cannot be fetched, without a connection to a refused address", async () => {
    const { url } = await site({
      "/": "<img src=http://10.1.2.3/a.png><img src=/gone.png><script src=http://127.0.0.1:9/x.js></script>",
    });
    const result = await weigh(url);
    expect(result).toMatchObject({ unknown_sizes: 3, bytes: { images: 0, js: 0 } });
    expect(result.limitations.join()).toContain("because they failed or do not state it: 3.");
  });

  it("are weighed in time if resources hang", async () => {
    const server = await handle((_request, response, { path }) => {
      if (path === "/")
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(Array.from({ length: 30 }, (_, n) => `<img src=/${n}>`).join(""));
      return true;
    });
    const { outcome } = await endsBy(4000, () => runTool(carbon, { url: server.url }, { timeoutMs: 4000 }));
    expect(outcome).toMatchObject({ status: "ok", data: { unknown_sizes: 30 } });
  });

  it("are weighed by the Content-Length if the page is larger than the limit, even if it is not HTML", async () => {
    const { url } = await site({ "/": { type: "application/octet-stream", body: Buffer.alloc(6_000_000) } });
    const result = await weigh(url);
    expect(result).toMatchObject({ bytes: { total: 6_000_000 }, requests: 1, rating: "F", cleaner_than_pct: null });
  });

  it("stay below the size of a result with hostile addresses", async () => {
    const html = Array.from({ length: 3000 }, (_, n) => `<img src="/${"<\u0000\u202e".repeat(300)}${n}">`).join("");
    const { url } = await site({ "/": html });
    expect(JSON.stringify(await weigh(url)).length).toBeLessThan(20_000);
  });
});

describe("the host", () => {
  const page = { "/": "<p>x" };

  it("is green if the Green Web Foundation says so", async () => {
    const documents = [{ id: 1, title: "Evidence", link: "https://host.example/evidence" }];
    const api = await greenWeb(
      JSON.stringify({ url: "127.0.0.1", green: true, hosted_by: "Green Host", supporting_documents: documents }),
    );
    const { url } = await site(page);
    const result = await weigh(url, api.url);
    expect(api.requests.map(({ path }) => path)).toEqual(["/api/v3/greencheck/127.0.0.1"]);
    expect(result.green_host).toEqual({
      green: true,
      hosted_by: "Green Host",
      source: "Green Web Foundation",
      checked: "127.0.0.1",
      documents: [{ title: "Evidence", link: "https://host.example/evidence" }],
    });
    expect(result.per_segment.data_center.operational_g).toBe(0);
    expect(result.co2e_g_per_visit).toBeCloseTo(co2PerVisit(4, true), 9);
    expect(result.grid_intensity).toMatchObject({ data_center_g_per_kwh: 0, network_g_per_kwh: 494 });
  });

  it("is not green if it is not listed", async () => {
    const api = await greenWeb('{"url":"127.0.0.1","green":false}');
    const { url } = await site(page);
    expect((await weigh(url, api.url)).green_host).toMatchObject({ green: false, hosted_by: null });
  });

  it.each([
    ["fails", "{}", 500, "status 500"],
    ["limits", "{}", 429, "status 429"],
    ["answers with something else", "<html>", 200, "not JSON"],
    ["answers in another form", "[]", 200, "unknown form"],
    ["sends too much", `{"green":true,"x":"${"a".repeat(400_000)}"}`, 200, "incomplete answer"],
  ])("is unknown if the service %s; the rest is reported", async (_what, body, status, reason) => {
    const api = await greenWeb(body, status);
    const { url } = await site(page);
    const result = await weigh(url, api.url);
    expect(result.green_host).toMatchObject({ green: null, hosted_by: null });
    expect(result.limitations.join()).toContain(reason);
    expect(result.co2e_g_per_visit).toBeCloseTo(co2PerVisit(4), 9);
  });

  it("is not sent to the foundation if it is not on the public internet", async () => {
    const { url } = await site(page);
    const result = await weigh(url, "https://api.thegreenwebfoundation.org");
    expect(result.limitations.join()).toContain("not on the public internet");
  });
});
