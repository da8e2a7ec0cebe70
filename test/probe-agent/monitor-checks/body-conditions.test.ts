import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { monitorHttp } from "#probe-agent/monitor-checks/monitor-http.ts";
import { toExactNumber } from "#shared/json/exact.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";

const MIB = 1024 * 1024;
const UTF8 = "text/html; charset=utf-8";

/** Bodies by path, sent in the given pieces. */
const BODIES: Readonly<Record<string, { readonly type?: string; readonly pieces: readonly Buffer[] }>> = {
  "/plain": { type: UTF8, pieces: [Buffer.from("<p>Welcome back</p>")] },
  "/split": { type: UTF8, pieces: Array.from("Grüße aus Köln", (character) => Buffer.from(character)) },
  "/octets": { type: UTF8, pieces: Array.from(Buffer.from("Grüße aus Köln"), (octet) => Buffer.of(octet)) },
  "/latin1": { type: "text/html; charset=iso-8859-1", pieces: [Buffer.from("Grüße", "latin1")] },
  "/sjis": { type: "text/html; charset=shift_jis", pieces: [Buffer.from("82a882cd82e682a4", "hex")] },
  "/utf16": { type: "text/html", pieces: [Buffer.from("\ufeffGrüße", "utf16le")] },
  "/meta": { type: "text/html", pieces: [Buffer.from('<meta charset="windows-1252"><p>Gr\u00fc\u00dfe', "latin1")] },
  "/untyped": { pieces: [Buffer.from("Grüße")] },
  "/edge": { type: UTF8, pieces: [Buffer.alloc(MIB - 3, "x"), Buffer.from("end")] },
  "/beyond": { type: UTF8, pieces: [Buffer.alloc(MIB - 2, "x"), Buffer.from("end")] },
  "/large-latin1": {
    type: "text/html; charset=iso-8859-1",
    pieces: [Buffer.alloc(200_000, "x"), Buffer.from("Grüße", "latin1")],
  },
  "/json": {
    type: "application/json",
    pieces: [Buffer.from('{"status":"degraded","queue":12,"ok":true,"none":null}')],
  },
  "/long-numbers": { type: "application/json", pieces: [Buffer.from('{"id":50000000014435121,"rate":0.1}')] },
  "/large-json": {
    type: "application/json",
    pieces: [Buffer.from(`{"items":[${"1,".repeat(100_000)}1],"status":"ok"}`)],
  },
  "/huge-json": { type: "application/json", pieces: [Buffer.from(`{"a":"${"x".repeat(MIB)}"}`)] },
  "/deep-json": { type: "application/json", pieces: [Buffer.from("[".repeat(500_000))] },
  "/deep-valid": {
    type: "application/json",
    pieces: [Buffer.from(`${"[".repeat(400_000)}1${"]".repeat(400_000)}`)],
  },
  "/wide-json": { type: "application/json", pieces: [Buffer.from(`[${"[1],".repeat(60_000)}1]`)] },
};

/** 50 MB of text in 50 KB. */
const BOMB = gzipSync(Buffer.alloc(50_000_000, "x"));

let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer({
    handler(_request, response, { path }) {
      if (path === "/endless-text") {
        response.writeHead(200, { "content-type": UTF8 });
        const piece = Buffer.from("needle in an endless stream\n".repeat(2_000));
        const more = (): void => {
          while (!response.destroyed && response.write(piece));
        };
        response.on("drain", more);
        more();
        return true;
      }
      if (path === "/bomb-text") {
        response.writeHead(200, { "content-type": UTF8, "content-encoding": "gzip" });
        response.end(BOMB);
        return true;
      }
      const body = BODIES[path];
      if (body === undefined) return false;
      response.writeHead(200, body.type === undefined ? {} : { "content-type": body.type });
      const [first = Buffer.alloc(0), ...rest] = body.pieces;
      response.write(first);
      // Each piece in a packet of its own.
      const next = (): void => {
        const piece = rest.shift();
        if (piece === undefined) response.end();
        else response.write(piece, () => setImmediate(next));
      };
      next();
      return true;
    },
  });
});
afterAll(() => server.close());

// Large bodies are examined in a thread, which a busy machine starts slowly.
const check = (path: string, given: Readonly<Record<string, unknown>>) =>
  verdictOf(monitorHttp, { url: server.url + path, timeout_seconds: 30, ...given });
const faultOf = async (path: string, given: Readonly<Record<string, unknown>>) => (await check(path, given)).fault;
const json = (path: string, op: string, value: unknown = null) => ({ json: { path, op, value } });

describe("a keyword", () => {
  it("must be in the body, or must not be, by its mode", async () => {
    expect(await check("/plain", { keyword: "Welcome" })).toMatchObject({ verdict: "up", http_status: 200 });
    expect(await faultOf("/plain", { keyword: "Error" })).toEqual({
      stage: "response",
      reason: "keyword_missing",
      message: 'the page does not contain "Error"',
    });
    expect(await check("/plain", { keyword: "Error", keyword_mode: "absent" })).toMatchObject({ verdict: "up" });
    expect(await faultOf("/plain", { keyword: "Welcome", keyword_mode: "absent" })).toEqual({
      stage: "response",
      reason: "keyword_present",
      message: 'the page contains "Welcome"',
    });
  });

  it.each(["/split", "/octets"])("is found across the borders of packets: %s", async (path) => {
    expect(await check(path, { keyword: "Grüße aus Köln" })).toMatchObject({ verdict: "up" });
  });

  it.each(["/latin1", "/utf16", "/meta", "/untyped", "/large-latin1"])(
    "is found in the charset of the page: %s",
    async (path) => {
      expect(await check(path, { keyword: "Grüße" })).toMatchObject({ verdict: "up" });
      expect(await faultOf(path, { keyword: "grüße" })).toMatchObject({ reason: "keyword_missing" });
    },
  );

  it("is found in Shift_JIS, and not in the octets of half a character", async () => {
    expect(await check("/sjis", { keyword: "おはよう" })).toMatchObject({ verdict: "up" });
    expect(await faultOf("/sjis", { keyword: "\u00a8" })).toMatchObject({ reason: "keyword_missing" });
  });

  it("is searched in the first megabyte", async () => {
    expect(await check("/edge", { keyword: "end" })).toMatchObject({ verdict: "up" });
    expect((await faultOf("/beyond", { keyword: "end" }))?.message).toBe(
      'the first 1 MB of the page does not contain "end"',
    );
  });

  it("is found at the beginning of a stream without an end", async () => {
    expect(await check("/endless-text", { keyword: "needle" })).toMatchObject({ verdict: "up" });
    expect(await faultOf("/endless-text", { keyword: "nothing" })).toMatchObject({ reason: "keyword_missing" });
  });

  it("is searched in the first megabyte of a decompression bomb", async () => {
    expect(await check("/bomb-text", { keyword: "x".repeat(900) })).toMatchObject({ verdict: "up" });
    expect(await faultOf("/bomb-text", { keyword: "y" })).toMatchObject({ reason: "keyword_missing" });
  });

  it.each([
    ["/lying/gzip", "present", "bad_encoding"],
    ["/short", "absent", "incomplete"],
    ["/reset", "present", "incomplete"],
  ])("that may be in the missing part of %s is not decided (%s): %s", async (path, mode, reason) => {
    const fault = await faultOf(path, { keyword: "anything", keyword_mode: mode });
    expect(fault).toMatchObject({ stage: "response", reason });
    expect(fault?.message).toMatch(/^the (?:response ended after \d+ of 1,000 bytes|body cannot be decoded)/);
  });

  it("that arrived before the body was cut short counts", async () => {
    expect(await check("/short", { keyword: "only this" })).toMatchObject({ verdict: "up" });
  });

  it("in a body that drips fails at the time limit", async () => {
    const given = { url: `${server.url}/drip-body?ms=50`, keyword: "y", timeout_seconds: 1 };
    expect(failureOf(await runMonitor(monitorHttp, given))).toBe("response/target/timeout");
  });

  it("is shown in one printable line of bounded length", async () => {
    const keyword = `a\u2028Subject: b\u2029${"c".repeat(900)}`;
    const message = (await faultOf("/plain", { keyword }))?.message ?? "";
    expect(message.length).toBeLessThan(200);
    // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
    expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  });
});

describe("a JSON condition", () => {
  it("holds or is a fault with what was found", async () => {
    expect(await check("/json", json("$.status", "equals", "degraded"))).toMatchObject({ verdict: "up" });
    expect(await faultOf("/json", json("$.status", "equals", "ok"))).toEqual({
      stage: "response",
      reason: "json_mismatch",
      message: '$.status is "degraded", expected "ok"',
    });
    expect(await faultOf("/json", json("$.version", "exists"))).toMatchObject({ reason: "json_missing" });
  });

  it.each([
    ["equals", "50000000014435121", null],
    ["equals", "50000000014435120", "$.id is 50000000014435121, expected 50000000014435120"],
  ])("compares all digits of numbers: %s %s", async (op, text, message) => {
    const verdict = await check("/long-numbers", json("$.id", op, toExactNumber(text)));
    expect(verdict.fault?.message ?? null).toBe(message);
  });

  it("needs JSON", async () => {
    expect(await faultOf("/plain", json("$.a", "exists"))).toMatchObject({ reason: "json_invalid" });
    expect(await faultOf("/deep-json", json("$.a", "exists"))).toMatchObject({ reason: "json_invalid" });
  });

  it("is checked with a keyword: both must hold", async () => {
    const both = { keyword: "degraded", ...json("$.queue", "equals", 12) };
    expect(await check("/json", both)).toMatchObject({ verdict: "up" });
    expect(await faultOf("/json", { ...both, keyword: "healthy" })).toMatchObject({ reason: "keyword_missing" });
    expect(await faultOf("/json", { ...both, ...json("$.queue", "equals", 1) })).toMatchObject({
      reason: "json_mismatch",
    });
  });

  it("is checked on a large document outside of the agent's event loop, and not on one above 1 MB", async () => {
    expect(await check("/large-json", json("$.status", "equals", "ok"))).toMatchObject({ verdict: "up" });
    expect(await faultOf("/huge-json", json("$.a", "exists"))).toMatchObject({ reason: "body_too_large" });
  });

  it("has an answer for documents and paths that are made to be slow", async () => {
    expect(await check("/deep-valid", json("$..[?@ == 1]", "exists"))).toMatchObject({ verdict: "up" });
    expect(await faultOf("/wide-json", json("$..*..*..*..*", "exists"))).not.toBeUndefined();
    expect(await faultOf("/wide-json", json("$..[?count($..*) > 1]", "exists"))).toMatchObject({
      reason: "json_too_complex",
    });
  });
});
