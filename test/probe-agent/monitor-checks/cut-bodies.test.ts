import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { monitorHttp } from "#probe-agent/monitor-checks/monitor-http.ts";
import { startWireServer, type WireHandler } from "#test/servers/wire.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";
import { until } from "#test/support/until.ts";

type Given = Readonly<Record<string, unknown>>;

const OK = "HTTP/1.1 200 OK\r\n";
const HTML = `${OK}Content-Type: text/html; charset=utf-8\r\n`;
const LONG = `${HTML}Content-Length: 10000\r\n\r\n`;
const CHUNKED = `${HTML}Transfer-Encoding: chunked\r\n\r\n`;

const opened: { close(): unknown }[] = [];
afterAll(() => Promise.all(opened.map((server) => server.close())));

/** Starts a server that answers with these octets and closes the connection, or hands the socket to a handler. */
async function serve(behaviour: string | Uint8Array | WireHandler) {
  const server = await startWireServer(behaviour);
  opened.push(server);
  return { ...server, url: `http://127.0.0.1:${server.port}/` };
}

const check = async (behaviour: string | Uint8Array | WireHandler, given: Given = {}) =>
  verdictOf(monitorHttp, { url: (await serve(behaviour)).url, ...given });
const failure = async (behaviour: WireHandler, given: Given = {}) =>
  failureOf(await runMonitor(monitorHttp, { url: (await serve(behaviour)).url, timeout_seconds: 1, ...given }));

/** Sends octets and leaves the connection open. */
const sendOnly =
  (octets: string): WireHandler =>
  (socket) =>
    void socket.write(octets);
const sendAndReset =
  (octets: string): WireHandler =>
  (socket) =>
    void socket.write(octets, () => socket.resetAndDestroy());

describe("a response that ends early is down", () => {
  it.each([
    ["before its length", `${LONG}12345678`, "the response ended after 8 of 10,000 bytes"],
    ["before its body", LONG, "the response ended after 0 of 10,000 bytes"],
    ["within a chunk", `${CHUNKED}3e8\r\n12345678`, "the response ended after 8 bytes, before its last chunk"],
    ["between two chunks", `${CHUNKED}8\r\n12345678\r\n`, "the response ended after 8 bytes, before its last chunk"],
    [
      "within a coding",
      Buffer.concat([
        Buffer.from(`${OK}Content-Encoding: gzip\r\nContent-Length: 10000\r\n\r\n`),
        gzipSync("a page").subarray(0, 20),
      ]),
      "the response ended after 20 of 10,000 bytes",
    ],
  ])("%s", async (_where, octets, message) => {
    expect(await check(octets)).toMatchObject({
      verdict: "down",
      http_status: 200,
      fault: { stage: "response", reason: "incomplete", message },
    });
  });

  it("to a POST as to a GET, also where the monitor is known to be up", async () => {
    for (const known of ["up", "down", null]) {
      const { verdict, fault } = await check(`${LONG}12345678`, { method: "POST", body: "a=1", known });
      expect({ verdict, reason: fault?.reason }).toEqual({ verdict: "down", reason: "incomplete" });
    }
  });

  it("by a reset", async () => {
    const { fault } = await check(sendAndReset(`${LONG}12345678`));
    const message = "the response ended after 8 of 10,000 bytes: the server reset the connection or the stream";
    expect(fault).toEqual({ stage: "response", reason: "incomplete", message });
  });

  it("with the time to the first byte, as without the end", async () => {
    const { response_ms: time, elapsed_ms: elapsed, phases } = await check(`${LONG}12345678`);
    expect(time).toBeLessThanOrEqual(elapsed + 1);
    expect(phases).toMatchObject({ connect_ms: expect.any(Number), processing_ms: expect.any(Number) });
  });
});

describe("a response that stops without an end fails at the time limit", () => {
  it.each([
    ["after its header", LONG],
    ["within its body", `${LONG}12345678`],
    ["after a chunk", `${CHUNKED}8\r\n12345678\r\n`],
    ["without a length", `${HTML}\r\n12345678`],
  ])("%s", async (_where, octets) => {
    expect(await failure(sendOnly(octets))).toBe("response/target/timeout");
    expect(await failure(sendOnly(octets), { method: "POST", known: "up" })).toBe("response/target/timeout");
  });
});

describe("a complete response is up", () => {
  it.each([
    ["of its length", `${OK}Content-Length: 8\r\n\r\n12345678`],
    ["with more than its length", `${OK}Content-Length: 8\r\n\r\n12345678more`],
    ["of length 0", `${OK}Content-Length: 0\r\n\r\n`],
    ["with its last chunk", `${CHUNKED}8\r\n12345678\r\n0\r\n\r\n`],
    ["until the connection closes", `${OK}\r\n12345678`],
    ["with an invalid length", `${OK}Content-Length: many\r\n\r\n12345678`],
    ["that cannot be decoded", `${OK}Content-Encoding: gzip\r\nContent-Length: 8\r\n\r\n12345678`],
    ["in an unknown coding", `${OK}Content-Encoding: x-own\r\nContent-Length: 8\r\n\r\n12345678`],
  ])("%s", async (_how, octets) => {
    expect(await check(octets)).toMatchObject({ verdict: "up", fault: null });
  });

  it("whose server keeps the connection open", async () => {
    expect(await check(sendOnly(`${OK}Content-Length: 8\r\n\r\n12345678`))).toMatchObject({ verdict: "up" });
  });

  it("to a POST", async () => {
    const octets = `${CHUNKED}8\r\n12345678\r\n0\r\n\r\n`;
    expect(await check(octets, { method: "POST", known: "up" })).toMatchObject({ verdict: "up", fault: null });
  });

  it.each([
    ["HEAD", `${OK}Content-Length: 10000\r\n\r\n`, { method: "HEAD" }],
    ["204", "HTTP/1.1 204 No Content\r\nContent-Length: 10000\r\n\r\n", { expected: [[204, 204]] }],
    ["304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 10000\r\n\r\n", { expected: [[304, 304]] }],
  ])("without a body: %s", async (_what, octets, given) => {
    expect(await check(sendOnly(octets), given)).toMatchObject({ verdict: "up" });
  });

  it("after the first megabyte of a body without an end, whose connection is closed", async () => {
    const server = await serve((socket) => {
      socket.write(CHUNKED);
      const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("drain", more);
      more();
    });
    expect(await verdictOf(monitorHttp, { url: server.url })).toMatchObject({ verdict: "up" });
    await until(() => server.open() === 0, "the connection is closed");
  });
});

describe("a keyword", () => {
  const page = `${LONG}<p>Welcome</p>`;
  const found = { keyword: "Welcome" };
  const missing = { keyword: "Goodbye" };

  it("that is in a part of the page is found, whether or not the page ends", async () => {
    expect(await check(page, found)).toMatchObject({ verdict: "up" });
    expect(await check(sendAndReset(page), found)).toMatchObject({ verdict: "up" });
    expect(await check(sendOnly(page), { ...found, timeout_seconds: 1 })).toMatchObject({ verdict: "up" });
  });

  it("that must not be there is found in a part of the page", async () => {
    const given = { ...found, keyword_mode: "absent", timeout_seconds: 1 };
    for (const behaviour of [page, sendOnly(page)]) {
      expect((await check(behaviour, given)).fault?.reason).toBe("keyword_present");
    }
  });

  it.each(["present", "absent"])("that is in no part of a page without an end is not decided (%s)", async (mode) => {
    const given = { ...missing, keyword_mode: mode };
    expect(await check(page, given)).toMatchObject({
      verdict: "down",
      fault: { stage: "response", reason: "incomplete", message: "the response ended after 14 of 10,000 bytes" },
    });
    expect(await failure(sendOnly(page), given)).toBe("response/target/timeout");
  });

  it("does not replace the end of the page for a JSON condition", async () => {
    const json = { path: "$.a", op: "exists", value: null };
    expect((await check(page, { ...found, json })).fault?.reason).toBe("incomplete");
    expect(await failure(sendOnly(page), { ...found, json })).toBe("response/target/timeout");
  });
});
