import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { makeIncident, makeView } from "#test/support/status-page-views.ts";
import { startPublicPages } from "#test/support/public-pages.ts";
import { askWire, sendRaw } from "#test/support/raw-http.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOST = "status.acme.example";
const FORMS = [
  ["", "text/html; charset=utf-8"],
  ["/feed.rss", "application/rss+xml; charset=utf-8"],
  ["/feed.atom", "application/atom+xml; charset=utf-8"],
  ["/feed.json", "application/feed+json; charset=utf-8"],
  ["/badge.svg", "image/svg+xml; charset=utf-8"],
  ["/summary.json", "application/json; charset=utf-8"],
  ["/api/v2/summary.json", "application/json; charset=utf-8"],
  ["/api/v2/status.json", "application/json; charset=utf-8"],
  ["/api/v2/components.json", "application/json; charset=utf-8"],
  ["/api/v2/incidents.json", "application/json; charset=utf-8"],
  ["/api/v2/incidents/unresolved.json", "application/json; charset=utf-8"],
  ["/api/v2/scheduled-maintenances.json", "application/json; charset=utf-8"],
  ["/api/v2/scheduled-maintenances/active.json", "application/json; charset=utf-8"],
  ["/api/v2/scheduled-maintenances/upcoming.json", "application/json; charset=utf-8"],
] as const;

const server = await stopAfterAll(startPublicPages({ acme: makeView() }));
server.domains.set(HOST, "acme");
// Every test has a minute of its own.
beforeEach(() => server.clock.advance(60_000));

const ask = (path: string, headers: Record<string, string> = {}) => askWire(`${server.url}${path}`, headers);
const read = async (path: string, headers: Record<string, string> = {}) => (await ask(path, headers)).body.toString();

describe.each(FORMS)("/status/acme%s", (path, type) => {
  const below = `/status/acme${path}`;

  it("can be cached for 10 s, is complete in each coding, and is not sent again to a client that has it", async () => {
    const whole = await ask(below);
    expect([whole.status, whole.headers["content-type"]]).toEqual([200, type]);
    expect(whole.headers).toMatchObject({ "cache-control": "public, max-age=10", vary: "accept-encoding" });
    expect(whole.headers["x-robots-tag"]).toBeUndefined();
    const tags = new Set<string | undefined>();
    for (const [coding, decode] of [
      ["identity", (body: Buffer) => body],
      ["gzip", gunzipSync],
      ["br", brotliDecompressSync],
    ] as const) {
      const coded = await ask(below, { "accept-encoding": coding });
      const isCoded = coded.headers["content-encoding"] !== undefined;
      expect((isCoded ? decode(coded.body) : coded.body).toString()).toBe(whole.body.toString());
      const tag = coded.headers.etag ?? "";
      expect(tag).toMatch(/^"[^"]+"$/);
      tags.add(tag);
      const again = await ask(below, { "accept-encoding": coding, "if-none-match": tag });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, tag]);
      expect([again.headers["content-type"], again.headers["content-length"]]).toEqual([undefined, undefined]);
    }
    expect(tags.size).toBe(whole.body.length < 1_024 ? 1 : 3);
  });

  it("answers HEAD with the headers of GET", async () => {
    const head = await sendRaw(server.url, `HEAD ${below} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    const { body } = await ask(below);
    expect(head.toLowerCase()).toContain(`content-length: ${body.length}`);
    expect(head.endsWith("\r\n\r\n")).toBe(true);
  });

  it("is at the root of the page's own domain", async () => {
    const there = await ask(path || "/", { host: `${HOST.toUpperCase()}.:8080` });
    expect([there.status, there.headers["content-type"]]).toEqual([200, type]);
    expect(there.headers["deprecation"]).toBeUndefined();
    if (path !== "") expect(there.body.toString()).toBe(await read(below));
    expect((await ask(path || "/", { host: "other.example" })).status).toBe(404);
    expect((await ask(path || "/", { host: "[::1]:8080" })).status).toBe(404);
  });

  it("is 404 if there is no such page, and never cached", async () => {
    const missing = await ask(`/status/nothing${path}`);
    expect([missing.status, missing.headers["cache-control"]]).toEqual([404, "no-store"]);
    const expected = path === "" || path === "/badge.svg" ? type : "application/json; charset=utf-8";
    expect(missing.headers["content-type"]).toBe(expected);
  });
});

describe.each(FORMS)("/status/acme%s", (path, type) => {
  it("has an age, which caches subtract from the 10 s", async () => {
    const ageAt = async (seconds: number): Promise<unknown> => {
      const generatedAt = new Date(server.clock.now().getTime() - seconds * 1_000);
      server.views.set("aged", makeView({ generatedAt }));
      const { headers } = await ask(`/status/aged${path}`);
      const again = await ask(`/status/aged${path}`, { "if-none-match": headers.etag ?? "" });
      expect([again.status, again.headers["age"]]).toEqual([304, headers["age"]]);
      return [headers["age"], headers["cache-control"]];
    };
    const limit = "public, max-age=10";
    for (const [seconds, age] of [
      [0, "0"],
      [4, "4"],
      [8.2, "9"],
      // A view that a slow read made late, and one of a clock that has stepped back.
      [12, "10"],
      [-3, "0"],
    ] as const) {
      expect(await ageAt(seconds)).toEqual([age, limit]);
    }
  });

  it("is 503 while too many requests wait, and never cached", async () => {
    server.waiting.add("crowded");
    const refused = await ask(`/status/crowded${path}`);
    expect([refused.status, refused.headers["cache-control"], refused.headers["age"]]).toEqual([
      503,
      "no-store",
      undefined,
    ]);
    expect(refused.headers["content-type"]).toBe(
      path === "" || path === "/badge.svg" ? type : "application/json; charset=utf-8",
    );
    expect(refused.body.toString()).toMatch(/service[_ ]unavailable|temporarily unavailable/);
  });
});

describe("the page", () => {
  it("allows its own style and its own form, and no frames", async () => {
    const { headers } = await ask("/status/acme");
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'sha256-[^']+'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    );
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("links below /status/ there, and to the root on its own domain", async () => {
    expect(await read("/status/acme/")).toContain(`href="/status/acme/feed.rss"`);
    expect(await read("/", { host: HOST })).toContain(`href="/feed.rss"`);
  });

  it("is not shown in place of other paths of its domain", async () => {
    const nothing = await ask("/nothing", { host: HOST });
    expect([nothing.status, nothing.headers["content-type"]]).toEqual([404, "application/json; charset=utf-8"]);
  });

  it("is 404 as a page, not listed by search engines", async () => {
    const missing = await ask("/status/nothing");
    expect(missing.body.toString()).toContain("There is no public status page at this address.");
    expect(missing.body.toString()).toContain(`<meta name="robots" content="noindex">`);
    expect(missing.headers["content-security-policy"]).toContain("form-action 'none'");
  });

  it("changes with its view, and so does its tag", async () => {
    const before = await ask("/status/acme");
    const shown = makeView({ incidents: [makeIncident(9, { title: "Something new" })] });
    server.views.set("acme", shown);
    const after = await ask("/status/acme", { "if-none-match": before.headers.etag ?? "" });
    expect(after.status).toBe(200);
    expect(after.body.toString()).toContain("Something new");
  });
});

describe("the page of an incident, and the archive", () => {
  beforeEach(() => void server.views.set("acme", makeView()));

  it.each([
    ["/incidents/7", "All requests succeed again."],
    ["/history", "November 2026"],
    ["/history?month=2026-10", "October 2026"],
  ])("are below the page and at the root of its own domain: %s", async (path, words) => {
    const below = await ask(`/status/acme${path}`);
    expect([below.status, below.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(below.headers["content-security-policy"]).toContain("form-action 'none'");
    expect(below.body.toString()).toContain(words);
    expect(below.body.toString()).toContain(`<a href="/status/acme"`);
    const there = await ask(path, { host: HOST });
    expect([there.status, there.body.toString().includes(words)]).toEqual([200, true]);
    expect(there.body.toString()).toContain(`<a href="/"`);
    expect(there.body.toString()).not.toContain(`href="/status/acme`);
    const again = await ask(path, { host: HOST, "if-none-match": there.headers.etag ?? "" });
    expect(again.status).toBe(304);
    const other = await ask(path, { host: "other.example" });
    expect([other.status, other.headers["content-type"]]).toEqual([404, "application/json; charset=utf-8"]);
  });

  it("are 404 as a page, also on its own domain", async () => {
    for (const path of ["/incidents/99", "/incidents/seven", "/history?month=2026-08", "/history?month=soon"]) {
      const missing = [await ask(`/status/acme${path}`), await ask(path, { host: HOST })];
      for (const { status, headers } of missing) {
        expect([status, headers["content-type"]], path).toEqual([404, "text/html; charset=utf-8"]);
      }
    }
  });
});

describe("the scripts of a page", () => {
  const SCRIPT = [200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"];

  it("are files for ever, at the service and at the page's own domain, and nothing else is beside them", async () => {
    const [, path = ""] = /<script type="module" src="([^"]+)">/.exec(await read("/status/acme")) ?? [];
    for (const file of [path, path.replace("refresh.js", "idiomorph.js")]) {
      for (const host of ["x", HOST]) {
        const { status, headers, body } = await ask(file, { host });
        expect([status, headers["content-type"], headers["cache-control"]], `${host}${file}`).toEqual(SCRIPT);
        expect(headers["x-content-type-options"]).toBe("nosniff");
        expect(body.toString()).toContain("Idiomorph");
      }
    }
    expect((await read(path)).split("\n").length).toBeLessThanOrEqual(61);
    expect((await ask(path.replace("refresh.js", "other.js"))).status).toBe(404);
  });
});

describe("other forms", () => {
  it("can be read and shown by other sites", async () => {
    for (const [path] of FORMS.slice(1)) {
      expect((await ask(`/status/acme${path}`)).headers).toMatchObject({
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
      });
    }
  });

  it("the badge takes a label, a monitor and a metric", async () => {
    const badge = await read("/status/acme/badge.svg?label=API%20%3Cb%3E&monitor=1&metric=uptime");
    expect(badge).toContain(`aria-label="API &lt;b&gt;: 99.95 % since 4 Sep"`);
    expect(await read("/status/acme/badge.svg?monitor=2")).toContain(`aria-label="status: operational"`);
    for (const [query, status, words] of [
      ["monitor=99", 404, "not found"],
      [`label=${"x".repeat(41)}`, 400, "missing parameter"],
      ["metric=nothing", 400, "missing parameter"],
    ] as const) {
      const wrong = await ask(`/status/acme/badge.svg?${query}`);
      expect([wrong.status, wrong.headers["content-type"]]).toEqual([status, "image/svg+xml; charset=utf-8"]);
      expect(wrong.body.toString()).toContain(`status: ${words}`);
    }
  });
});

describe("visitors", () => {
  it("are limited to 60 requests per minute and address, in all forms and addresses together", async () => {
    for (let count = 0; count < 20; count += 1) {
      expect((await ask("/status/acme")).status).toBe(200);
      expect((await ask("/status/acme/summary.json")).status).toBe(200);
      expect((await ask("/", { host: HOST })).status).toBe(200);
    }
    for (const [path, host, type] of [
      ["/status/acme", "x", "text/html"],
      ["/", HOST, "text/html"],
      ["/status/acme/summary.json", "x", "application/json"],
      ["/status/acme/badge.svg", "x", "image/svg+xml"],
    ] as const) {
      const refused = await ask(path, { host });
      expect([refused.status, refused.headers["retry-after"]]).toEqual([429, expect.stringMatching(/^\d+$/)]);
      expect(refused.headers["content-type"]).toContain(type);
    }
    server.clock.advance(60_000);
    expect((await ask("/status/acme")).status).toBe(200);
  });

  it("with a wrong key are refused, because the key can be meant for a page that is not public", async () => {
    expect((await ask("/status/acme", { "x-api-key": "vtg_wrong" })).status).toBe(401);
  });
});
