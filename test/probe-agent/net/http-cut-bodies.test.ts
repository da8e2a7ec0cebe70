import { setTimeout as sleep } from "node:timers/promises";
import type { Socket } from "node:net";
import { gzipSync, brotliCompressSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { frame, headers200, startFrameServer, word } from "#test/servers/h2-frames.ts";
import type { Identity } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { startSocketServer, type Accept } from "#test/servers/wire-tls.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { failureOf, httpEngine, identityOf, pageOf } from "#test/support/http-engine.ts";

const get = httpEngine();
const opened: { close(): unknown }[] = [];
let identity: Identity;

beforeAll(async () => {
  const pki = await createPki();
  identity = identityOf(await pki.issue({ ip: ["127.0.0.1"] }), pki.intermediate);
});
afterAll(async () => {
  await Promise.all(opened.map((server) => server.close()));
});

const HEAD = "HTTP/1.1 200 OK\r\nX-Kept: yes\r\n";
const TEXT = Buffer.from("some of it");
/** A long text with few repeats: a truncated coding of it still decodes to most of the text. */
const PAGE = Buffer.from(Array.from({ length: 4000 }, (_, index) => `line ${index * 7919}\n`).join(""));

type End = (socket: Socket, raw: Socket) => void;
const reset: End = (_socket, raw) => void raw.resetAndDestroy();
const close: End = (socket) => void socket.end();

/** Lets the event loop turn often enough for the client, which is in this process, to read all that has arrived. */
async function passTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await sleep(2);
}

/** Sends octets, and ends the connection in the same turn or once the client has read them. */
function sending(bytes: Buffer | string, end: End, moment: "at once" | "later"): Accept {
  return (socket, raw) => {
    socket.write(bytes, () => {
      if (moment === "at once") end(socket, raw);
      else void passTurns().then(() => end(socket, raw));
    });
  };
}

/** A server that runs this action on the first octets of each connection. */
async function answering(answer: Accept): Promise<{ readonly port: number }> {
  const server = await startWireServer((socket) => answer(socket, socket));
  opened.push(server);
  return server;
}

describe("a body over HTTP/1.1 that is cut short", () => {
  const framed: readonly (readonly [string, string])[] = [
    ["Content-Length", `${HEAD}Content-Length: 1000\r\n\r\nsome of it`],
    ["chunks", `${HEAD}Transfer-Encoding: chunked\r\n\r\n3e8\r\nsome of it`],
    ["chunks, between two", `${HEAD}Transfer-Encoding: chunked\r\n\r\na\r\nsome of it\r\n`],
  ];
  const rows = framed.flatMap(([framing, bytes]) =>
    (["at once", "later"] as const).flatMap((moment) => [
      { framing, bytes, moment, how: "reset", end: reset, error: "reset" },
      { framing, bytes, moment, how: "closed", end: close, error: "incomplete" },
    ]),
  );
  it.each(rows)("($framing) by a connection $how $moment keeps status, headers and what arrived", async (row) => {
    const server = await answering(sending(row.bytes, row.end, row.moment));
    const { final, body } = pageOf(await get({ url: `http://127.0.0.1:${server.port}/` }));
    expect(final).toMatchObject({ code: 200, statusText: "OK" });
    expect(final.headers[0]).toEqual(["X-Kept", "yes"]);
    expect(Buffer.from(body.bytes)).toEqual(TEXT);
    expect(body).toMatchObject({ error: row.error, transferredBytes: 10, truncated: false });
  });

  it("by a reset is kept if only the end of the connection would end it", async () => {
    const server = await answering(sending(`${HEAD}\r\nsome of it`, reset, "at once"));
    const { body } = pageOf(await get({ url: `http://127.0.0.1:${server.port}/` }));
    expect([Buffer.from(body.bytes), body.error]).toEqual([TEXT, "reset"]);
  });

  it.each([
    ["gzip", gzipSync(PAGE)],
    ["br", brotliCompressSync(PAGE)],
    ["zstd", zstdCompressSync(PAGE, { params: {} })],
  ])("by a reset has what can be decoded of %s", async (coding, coded) => {
    const head = `${HEAD}Content-Encoding: ${coding}\r\nContent-Length: ${coded.length}\r\n\r\n`;
    const some = coded.subarray(0, coded.length - 100);
    const server = await answering(sending(Buffer.concat([Buffer.from(head), some]), reset, "at once"));
    const { body } = pageOf(await get({ url: `http://127.0.0.1:${server.port}/` }));
    expect(body).toMatchObject({ error: "reset", encoding: coding, transferredBytes: some.length });
    expect(body.decodedBytes).toBeLessThan(PAGE.length);
    expect(Buffer.from(body.bytes)).toEqual(PAGE.subarray(0, body.decodedBytes));
  });

  it("by a reset keeps a large amount that arrived in one piece", async () => {
    const much = Buffer.alloc(600_000, "x");
    const head = `${HEAD}Content-Length: 1000000\r\n\r\n`;
    const server = await answering(sending(Buffer.concat([Buffer.from(head), much]), reset, "later"));
    const { body } = pageOf(await get({ url: `http://127.0.0.1:${server.port}/` }));
    expect([body.transferredBytes, body.error]).toEqual([600_000, "reset"]);
  });

  it.each([
    ["reset", reset],
    ["incomplete", close],
  ])("over TLS is %s", async (error, end) => {
    const answer = sending(`${HEAD}Content-Length: 1000\r\n\r\nsome of it`, end, "later");
    const server = await startSocketServer((socket, raw) => socket.once("data", () => answer(socket, raw)), identity);
    opened.push(server);
    const { final, body } = pageOf(await get({ url: `https://127.0.0.1:${server.port}/` }));
    expect([final.code, Buffer.from(body.bytes), body.error]).toEqual([200, TEXT, error]);
  });
});

describe("a body over HTTP/2 that is cut short", () => {
  const DATA = frame("data", 0, 1, TEXT);
  const said = Buffer.concat([headers200(1000), DATA]);
  const unsaid = Buffer.concat([headers200(), DATA]);
  const resetStream = (code: number) => frame("rst_stream", 0, 1, word(code));
  const goAway = (code: number) => frame("goaway", 0, 0, word(1, code));
  const leave: End = () => undefined;

  it.each<[string, Buffer, End, string]>([
    ["RST_STREAM (INTERNAL_ERROR)", Buffer.concat([said, resetStream(2)]), leave, "reset"],
    ["RST_STREAM (CANCEL)", Buffer.concat([said, resetStream(8)]), leave, "reset"],
    ["RST_STREAM (CANCEL) without a length", Buffer.concat([unsaid, resetStream(8)]), leave, "reset"],
    ["RST_STREAM (NO_ERROR)", Buffer.concat([said, resetStream(0)]), leave, "incomplete"],
    ["GOAWAY (INTERNAL_ERROR)", Buffer.concat([said, goAway(2)]), close, "reset"],
    ["GOAWAY (NO_ERROR) and a close", Buffer.concat([said, goAway(0)]), close, "incomplete"],
    ["END_STREAM before its length", Buffer.concat([said, frame("data", 1, 1, TEXT)]), leave, "incomplete"],
    ["a close", unsaid, close, "incomplete"],
    ["a reset of the connection", unsaid, reset, "reset"],
    ["a frame that is none", Buffer.concat([unsaid, frame("settings", 0, 1, word(0))]), leave, "protocol_error"],
  ])("by %s keeps status, headers and what arrived", async (_how, bytes, end, error) => {
    for (const tls of [null, identity]) {
      const server = await startFrameServer(sending(bytes, end, "later"), tls);
      opened.push(server);
      const way = tls === null ? { h2c: "prior_knowledge" as const } : {};
      const { final, body } = pageOf(await get({ url: `${server.url}/`, ...way }));
      expect([final.code, final.httpVersion]).toEqual([200, "2"]);
      expect(Buffer.from(body.bytes).subarray(0, TEXT.length)).toEqual(TEXT);
      expect(body.error).toBe(error);
    }
  });

  it.each(["099", "999"])("with :status %s is reported with this status", async (status) => {
    // A literal field without indexing whose name is entry 8, ":status" (RFC 7541 section 6.2.2).
    const block = Buffer.from([0x08, 3, ...Buffer.from(status)]);
    const server = await startFrameServer((socket) => void socket.write(frame("headers", 0x5, 1, block)), null);
    opened.push(server);
    const outcome = await get({ url: `${server.url}/`, h2c: "prior_knowledge" });
    // nghttp2 rejects a code below 100 itself and does not report it.
    if (status === "099") expect(failureOf(outcome)).toBe("response/target/protocol_error");
    else expect(pageOf(outcome).final).toMatchObject({ code: 999, faults: ["status_code_out_of_range"] });
  });

  it("by an immediate reset keeps what arrived with it", async () => {
    const server = await startFrameServer(sending(unsaid, reset, "at once"), null);
    opened.push(server);
    const { body } = pageOf(await get({ url: `${server.url}/`, h2c: "prior_knowledge" }));
    expect([Buffer.from(body.bytes), body.error]).toEqual([TEXT, "reset"]);
  });
});
