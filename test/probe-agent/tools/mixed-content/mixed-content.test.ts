import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { mixedContent } from "#probe-agent/tools/mixed-content/mixed-content.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const FIXTURE = readFileSync(new URL("../../../fixtures/html/page.html", import.meta.url));
const IMAGE = "<img src=http://a.example/x.png>";
const LONG = `http://a.example/${"x".repeat(2500)}`;
const PAGES: Readonly<Record<string, readonly [html: string | Buffer, headers?: Readonly<Record<string, string>>]>> = {
  "/page": [FIXTURE],
  "/image": [IMAGE],
  "/blocked": [IMAGE, { "content-security-policy": "default-src *, block-all-mixed-content" }],
  "/broken": ["\u0000\r\n<img src='http://a.example/\u0000'><im<img src=\"http://b.example/"],
  "/huge": [
    `<img src=${LONG} srcset="${LONG} 2x" style="background:url(${LONG})"><form action=${LONG}></form>`.repeat(500),
  ],
  "/links": ["<a href=http://a.example/>link</a>\n".repeat(150_000)],
  "/text": ["http://a.example/", { "content-type": "text/plain" }],
};

const pki = await createPki();
const leaf = await pki.issue({ ip: ["127.0.0.1"] });
const handler: Parameters<typeof startHttpServer>[0] = {
  handler: (_request, response, { path }) => {
    if (path.startsWith("/cut?")) {
      response.writeHead(200, { "content-type": "text/html", "content-length": 1000 });
      response.write(`<p>${decodeURIComponent(path.slice(5))}`, () => response.destroy());
      return true;
    }
    const [html, headers] = PAGES[path] ?? [];
    if (html === undefined) return false;
    response.writeHead(200, { "content-type": "text/html", ...headers }).end(html);
    return true;
  },
};
const secure = await stopAfterAll(startHttpServer({ ...handler, tls: identityOf(leaf, pki.intermediate), h2: true }));
const plain = await stopAfterAll(startHttpServer(handler));

async function see(path: string, server = secure, more: Partial<ToolSetting> = {}) {
  return await resultOf(mixedContent, { url: `${server.url}${path}` }, { roots: [pki.root.pem], ...more });
}

describe("a secure page", () => {
  it("is searched in every place, with line numbers", async () => {
    const result = await see("/page");
    expect(result).toMatchObject({ https: true, verdict: "active", code: 200, source: ["page"] });
    expect(result.active[0]).toEqual({
      tag: "script",
      attr: "src",
      url: "http://cdn.example.com/assets/app.js",
      line: 18,
    });
    expect(result.passive[0]).toEqual({
      tag: "link",
      attr: "href",
      url: "http://cdn.example.com/favicon.ico",
      line: expect.any(Number) as number,
      upgradable: true,
    });
    expect(result.forms.map((one) => one.url)).toEqual(["http://forms.example/send"]);
    expect(result.css_urls.map((one) => one.url)).toEqual([
      "http://img.example/bg.png",
      "http://css.example/x.css",
      "http://img.example/b.png",
    ]);
    expect(result.limitations).toEqual(["Only the HTML was checked. Style sheets, scripts and frames can load more."]);
  });

  it("can have a policy in a header that blocks", async () => {
    const blocked = await see("/blocked");
    expect(blocked).toMatchObject({ verdict: "blocked", block_all: true });
    expectWellFormed(blocked.findings);
    expect(kinds(blocked.findings).join()).toContain("-content-blocked");
  });
});

it("finds nothing mixed in a page over HTTP", async () => {
  const result = await see("/image", plain);
  expect(result).toMatchObject({ https: false, verdict: "clean", passive: [] });
  expect(kinds(result.findings)).toEqual(["warning page-not-encrypted"]);
});

it("has no verdict if the response is not HTML", async () => {
  const result = await see("/text");
  expect(result).toMatchObject({ https: true, verdict: null });
  expect(result.limitations).toEqual(["The answer is not HTML (text/plain)."]);
});

describe("hostile pages", () => {
  it("with control characters and broken tags are read", async () => {
    const result = await see("/broken");
    expect(result.counts.passive).toBeGreaterThanOrEqual(1);
    // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
    expect(result.passive.map((one) => one.url).join("")).not.toMatch(/[\u0000-\u001f]/);
  });

  it("with long references are cut to the size of a result, and the result says so", async () => {
    const result = await see("/huge");
    expect(result.counts).toEqual({ active: 500, passive: 1000, forms: 500, css: 500 });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(MAX_RESULT_BYTES);
    expect(result.limitations).toContain("Not all references are listed.");
  });

  it("that are cut off are not clean, and the references before the cut are reported", async () => {
    expect(await see("/cut?")).toMatchObject({ verdict: null, https: true });
    const found = await see(`/cut?${encodeURIComponent(IMAGE)}`);
    expect(found).toMatchObject({ verdict: "passive", counts: { passive: 1 } });
    expect(found.limitations).toContain("The body could not be read to its end: incomplete.");
  });

  it("with 5 MB of links are read in time, and the result says that there is more", async () => {
    // Threads hardly run while other programs keep the processors busy. The limit of their processor time remains.
    const result = await see("/links", secure, { timeoutMs: 250_000 });
    expect(result.verdict).toBeNull();
    expect(result.limitations).toContain("The page is larger than the part that was examined.");
  });
});
