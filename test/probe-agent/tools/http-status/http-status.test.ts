import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { describe, expect, it } from "vitest";
import { httpStatus } from "#probe-agent/tools/http-status/http-status.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const keep = closeAfterEach();
const server: HttpServer = await stopAfterAll(
  startHttpServer({
    handler: (_request, response, { path }) => {
      if (path !== "/full") return false;
      response.writeHead(503, {
        server: "nginx",
        "content-type": "text/html; charset=utf-8",
        "retry-after": "120",
        "cache-control": "public, max-age=60, s-maxage=600",
        age: "30",
        vary: "Accept-Encoding, Cookie",
        "cf-cache-status": "HIT",
        "x-robots-tag": ["noindex", "googlebot: nofollow, max-snippet: 20"],
      });
      response.end("busy");
      return true;
    },
  }),
);

const run = (path: string, setting?: ToolSetting) => resultOf(httpStatus, { url: server.url + path }, setting);

/** Runs the tool on a server that responds with exactly these octets. */
async function onWire(octets: string, setting?: ToolSetting) {
  const wire = keep(await startWireServer(octets));
  return resultOf(httpStatus, { url: `http://127.0.0.1:${wire.port}/` }, setting);
}

describe("http-status", () => {
  it("reports code, name, class, address and time of a page", async () => {
    const result = await run("/");
    expect(result).toMatchObject({
      url: `${server.url}/`,
      code: 200,
      reason: "OK",
      status_text: "OK",
      class: "success",
      ok: true,
      registered: true,
      vendor: null,
      http_version: "1.1",
      ip: "127.0.0.1",
      port: server.port,
      redirected: false,
      location: null,
      retry_after_s: null,
      content_type: "text/html; charset=utf-8",
      tls: null,
      limitations: [],
    });
    const { redirect_count, ...phases } = result.timing;
    expect(redirect_count).toBe(0);
    expect(Object.values(phases).reduce((sum, value) => sum + value, 0)).toBe(result.elapsed_ms);
  });

  it("reports a redirect and does not follow it", async () => {
    const before = server.requests.length;
    const result = await run("/redirect/2");
    expect(result).toMatchObject({ code: 302, class: "redirection", redirected: true, ok: false });
    expect(result.location).toBe(`${server.url}/redirect/1?code=302`);
    expect(server.requests.length - before).toBe(1);
  });

  it("reports a redirect without a usable Location, and ignores Location with another status", async () => {
    expect(await run("/status/301")).toMatchObject({
      redirected: false,
      location: null,
      findings: [{ id: "bad-location", severity: "critical" }],
      limitations: [],
    });
    expect(await run("/status/201?location=/made")).toMatchObject({
      redirected: false,
      location: `${server.url}/made`,
    });
    expect(await run("/status/300?location=/one")).toMatchObject({ redirected: false, class: "redirection" });
  });

  it("reads the headers about waiting, caches and crawlers", async () => {
    const result = await run("/full");
    expect(result).toMatchObject({ code: 503, class: "server_error", server: "nginx", retry_after_s: 120 });
    expect(result.cache).toMatchObject({
      cache_control: "public, max-age=60, s-maxage=600",
      shared: { fresh_s: 600, from: "s-maxage" },
      age_s: 30,
      vary: ["accept-encoding", "cookie"],
      served_by: [{ header: "cf-cache-status", value: "HIT" }],
    });
    const [everyone, google] = [{ agent: "*", directives: ["noindex"] }, { agent: "googlebot" }];
    expect(result.robots).toMatchObject({ tags: [everyone, google], noindex: true, nofollow: false });
  });

  it("counts a date in Retry-After from the control plane's time", async () => {
    const wait = await onWire(
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n",
      { now: () => new Date("1999-12-31T23:58:29Z") },
    );
    expect(wait).toMatchObject({ code: 429, retry_after_s: 90 });
    const soon = await onWire("HTTP/1.1 503 -\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n");
    expect(soon.retry_after_s).toBeNull();
    expectWellFormed(soon.findings);
    expect(kinds(soon.findings)).toEqual(["critical server-error", "info bad-retry-after"]);
  });

  it.each([
    [999, "whatever", { reason: "Request Denied", vendor: "LinkedIn, Yahoo", class: "invalid", registered: false }],
    [299, "Fine, I guess", { reason: "Fine, I guess", vendor: null, class: "success", ok: true }],
  ])("names the code %i as its vendor does, otherwise as the server does", async (code, phrase, expected) => {
    const result = await onWire(`HTTP/1.1 ${code} ${phrase}\r\nContent-Length: 0\r\n\r\n`);
    expect(result).toMatchObject({ code, status_text: phrase, ...expected });
  });

  it("lists early hints separately from the response", async () => {
    expect(await run("/hints/2")).toMatchObject({ code: 200, informational: [103, 103] });
  });

  it("supports HTTP/1.0 servers, and reports syntax errors that it tolerates", async () => {
    const result = await onWire("HTTP/1.0 200 OK\nX-A: b\n\nold");
    expect(result).toMatchObject({
      http_version: "1.0",
      code: 200,
      findings: [{ id: "bare-line-feed", severity: "warning", how: "End each header line with CR LF." }],
    });
  });

  it("reports a bad certificate and continues", async () => {
    const pki = await createPki();
    const leaf = await pki.issue({ ip: ["127.0.0.1"] });
    const tls = await startHttpServer({ tls: identityOf(leaf, pki.intermediate), h2: true });
    const strange = await resultOf(httpStatus, { url: `${tls.url}/` });
    const trusted = await resultOf(httpStatus, { url: `${tls.url}/` }, { roots: [pki.root.pem] });
    await tls.close();
    expect(strange.tls).toMatchObject({ authorized: false });
    expect(strange.tls?.error).not.toBeNull();
    expect(trusted).toMatchObject({
      http_version: "2",
      status_text: "",
      reason: "OK",
      tls: { authorized: true, error: null },
    });
  });

  it.each(["/drip-body?ms=50", "/endless-body", "/bytes/6000000", "/bomb/gzip", "/reset", "/short"])(
    "has a status of %s, whose body it does not wait for",
    async (path) => {
      const result = await run(path);
      expect(result.code).toBe(200);
      expect(result.limitations[0]).toMatch(/^The body was not read to its end/);
    },
  );

  it.each(["Content-Length: 5\r\nContent-Length: 6", "Content-Encoding: UTF-8"])(
    "does not call a body cut that came whole, though described by %j",
    async (described) => {
      const result = await onWire(`HTTP/1.1 200 OK\r\n${described}\r\n\r\nhello`);
      expect([result.code, result.limitations]).toEqual([200, []]);
    },
  );

  it("keeps its bounds for any header", async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `Vary: ${"v".repeat(60)}${index}, ${'"'.repeat(30)}`);
    const result = await onWire(
      `HTTP/1.1 200 OK\r\n${lines.join("\r\n")}\r\nCache-Control: ${"x,".repeat(5000)}\r\n\r\n`,
    );
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
  });
});
