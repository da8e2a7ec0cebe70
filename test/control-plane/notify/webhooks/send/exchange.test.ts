import { createServer } from "node:tls";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, afterEach, expect, it } from "vitest";
import { createExchanger } from "#control-plane/notify/webhooks/send/exchange.ts";
import { issueTrusted } from "#test/support/trusted-identity.ts";

/** What the receiver writes, as it is, when a request has begun. */
let answer: (socket: Socket) => void = () => {};
let connections = 0;
const requests: string[] = [];
const sockets = new Set<Socket>();

const server = createServer(await issueTrusted(), (socket) => {
  connections += 1;
  sockets.add(socket);
  socket.on("error", () => {});
  socket.on("data", (data) => {
    requests.push(data.toString());
    answer(socket);
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const exchanger = createExchanger();
afterEach(() => requests.splice(0));
afterAll(async () => {
  exchanger.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Posts to a receiver that writes `text`, and closes the connection where `isClosed`. */
function exchange(text: string, { host = "127.0.0.1", isClosed = false } = {}) {
  answer = (socket) => (isClosed ? socket.end(text) : socket.write(text));
  const url = new URL(`https://${host}:${(server.address() as AddressInfo).port}/hook?a=b`);
  const request = { url, address: "127.0.0.1", headers: { "content-type": "application/json" }, body: "{}" };
  return exchanger.post(request, AbortSignal.timeout(5_000));
}

const OK = "HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 2\r\n\r\nok";
const informational = (code: number, fields = "") => `HTTP/1.1 ${code} Wait\r\n${fields}\r\n`;

it.each([
  ["100", informational(100)],
  ["103 with fields", informational(103, "Link: </a>; rel=preload\r\n")],
  ["102 to 199", informational(102) + informational(199)],
  ["16 of them", informational(100).repeat(16)],
])("reads past %s", async (_name, before) => {
  expect(await exchange(before + OK)).toEqual({
    ok: true,
    status: 200,
    headers: [
      { name: "x-one", value: "1" },
      { name: "content-length", value: "2" },
    ],
    body: "ok",
    isTruncated: false,
  });
  expect(requests.join("")).toMatch(/^POST \/hook\?a=b HTTP\/1\.1\r\n/);
});

it.each([
  ["101", informational(101, "Connection: upgrade\r\nUpgrade: h2c\r\n"), "protocol_error"],
  ["101 without an upgrade", informational(101) + OK, "protocol_error"],
  ["more than 16 informational answers", informational(100).repeat(17) + OK, "protocol_error"],
  ["more than 16 KB of them", informational(103, `A: ${"a".repeat(6_000)}\r\n`).repeat(3) + OK, "invalid_response"],
  ["a head of more than 16 KB", `HTTP/1.1 200 OK\r\nA: ${"a".repeat(17_000)}\r\n\r\n`, "invalid_response"],
  ["another protocol", "SSH-2.0-OpenSSH_9.9\r\n\r\n", "invalid_response"],
])("has no answer where the receiver sends %s", async (_name, text, code) => {
  expect(await exchange(text)).toMatchObject({ ok: false, fault: { code } });
});

it.each([
  ["nothing", ""],
  ["a part of a head", "HTTP/1.1 200 OK\r\nA"],
  ["a part of a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"],
])("is reset where the receiver closes the connection after %s", async (_name, text) => {
  expect(await exchange(text, { isClosed: true })).toMatchObject({ ok: false, fault: { code: "connection_reset" } });
});

it("reads an answer whose lines end with a bare LF", async () => {
  const status = await exchange("HTTP/1.1 204 No Content\nX-One: 1\n\n");
  expect(status).toMatchObject({ ok: true, status: 204, headers: [{ name: "x-one", value: "1" }] });
  const sized = await exchange("HTTP/1.1 200 OK\nContent-Length: 2\n\nok");
  expect(sized).toMatchObject({ ok: true, status: 200, body: "ok" });
  const closed = await exchange("HTTP/1.1 500 Oh\n\nno", { isClosed: true });
  expect(closed).toMatchObject({ ok: true, status: 500, body: "no" });
});

it("keeps each field of a head, and makes of it text that can be stored", async () => {
  const answered = await exchange("HTTP/1.1 200 OK\r\nA: 1\r\nA: 2\r\nContent-Length: 2\r\n\r\n\0\xff");
  expect(answered).toMatchObject({
    headers: [
      { name: "a", value: "1" },
      { name: "a", value: "2" },
      { name: "content-length", value: "2" },
    ],
  });
  expect(JSON.stringify(answered)).not.toContain("\\u0000");
});

it("uses a connection again, and none of another host name", async () => {
  await exchange(OK);
  const before = connections;
  await exchange(OK);
  expect(connections).toBe(before);
  await exchange(OK, { host: "localhost" });
  expect(connections).toBe(before + 1);
});

it("has at most 16 connections to one host, also while they begin", async () => {
  const before = connections;
  await Promise.all(Array.from({ length: 40 }, () => exchange(OK)));
  expect(connections - before).toBeLessThanOrEqual(16);
});

it("sends nothing to a receiver that does not prove its name", async () => {
  expect(await exchange(OK, { host: "other.example.com" })).toMatchObject({
    ok: false,
    fault: { code: "tls_certificate", message: expect.stringContaining("it is for another name") },
  });
  expect(requests).toEqual([]);
});
