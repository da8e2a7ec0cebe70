import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { monitorWebsocket } from "#probe-agent/monitor-checks/monitor-websocket.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { serverFrame, startWebsocketServer, type WebsocketScript } from "#test/servers/websocket.ts";
import { drip, startWireServer, writeForever } from "#test/servers/wire.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf, identityOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";
import { until } from "#test/support/until.ts";

const HOST = "live.example.net";
const pki = await createPki();
const tls = identityOf(await pki.issue({ dns: [HOST] }), pki.intermediate);
const expired = identityOf(await pki.issue({ dns: [HOST], notAfter: daysFromNow(-2) }), pki.intermediate);
const dns = await startDnsServer({ zones: { [HOST]: { A: ["127.0.0.1"] } } });
afterAll(() => dns.close());
const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };

const TEXT = 0x81;
const CLOSE = 0x88;
const PING = 0x89;

/** The verdict on a server with the words of its fault, or its failure. The connection must be closed, by the deadline. */
async function check(script: WebsocketScript, given: object = {}): Promise<string> {
  const server = await startWebsocketServer(script);
  const params = { url: `http://${HOST}:${server.port}/live?x=1`, timeout_seconds: 1, ...given };
  const outcome = await endsBy(1_000, () => runMonitor(monitorWebsocket, params, setting));
  await until(() => server.open() === 0, "the connection is closed");
  await server.close();
  if (outcome.status !== "ok") {
    return outcome.status === "failed" ? `${failureOf(outcome)}: ${outcome.message}` : outcome.status;
  }
  const { fault } = outcome.data;
  return fault === null ? "up" : `${fault.reason}: ${fault.message}`;
}

/** A server that sends octets once the WebSocket is open. */
const sending = (...frames: readonly Buffer[]): WebsocketScript => ({
  opened: (socket) => socket.write(Buffer.concat(frames)),
});

/** Sends octets one by one. */
function dripOctets(socket: Socket, octets: Buffer): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at < octets.length && !socket.destroyed) socket.write(octets.subarray(at, at + 1));
    at += 1;
  }, 1);
  socket.on("close", () => clearInterval(timer));
}

describe("a WebSocket", () => {
  it.each([
    ["in the clear", "http", null],
    ["over TLS", "https", tls],
  ])("%s that opens is up, and is closed with code 1000", async (_how, scheme, identity) => {
    const server = await startWebsocketServer({ tls: identity });
    const url = `${scheme}://${HOST}:${server.port}/live?x=1`;
    const result = await verdictOf(monitorWebsocket, { url }, setting);
    await until(() => server.frames.length === 1, "the close is there");
    await server.close();
    expect(result).toMatchObject({ verdict: "up", http_status: 101, fault: null, whole: null });
    const { redirect_ms, dns_ms, connect_ms, tls_ms, processing_ms } = result.phases ?? expect.fail("no phases");
    expect([redirect_ms, tls_ms > 0]).toEqual([0, identity !== null]);
    expect(dns_ms + connect_ms + tls_ms + processing_ms).toBeCloseTo(result.response_ms, 6);
    expect(server.frames).toEqual([{ opcode: 8, isMasked: true, text: "\u0003\u00e8" }]);
    const [request = ""] = server.requests;
    expect(request).toMatch(/^GET \/live\?x=1 HTTP\/1\.1\r\nHost: live\.example\.net:\d+\r\nUser-Agent: Vantage\//);
    expect(Buffer.from(/^Sec-WebSocket-Key: (.*)$/m.exec(request)?.[1] ?? "", "base64")).toHaveLength(16);
    expect(request).toContain("\r\nSec-WebSocket-Version: 13");
    expect(request).not.toMatch(/sec-websocket-(?:extensions|protocol)/i);
    expect(request).toContain(`\r\nOrigin: ${scheme}://${HOST}:${server.port}\r\n`);
  });

  it("sends the user's header fields in the place of its own", async () => {
    const server = await startWebsocketServer();
    const headers = [
      ["origin", "https://app.example"],
      ["Authorization", "Bearer s3cret"],
    ];
    await verdictOf(monitorWebsocket, { url: `http://${HOST}:${server.port}/`, headers }, setting);
    await server.close();
    const [request = ""] = server.requests;
    expect(request.match(/^origin: .*$/gim)).toEqual(["origin: https://app.example"]);
    expect(request).toContain("\r\nAuthorization: Bearer s3cret\r\n");
    expect(request).toContain("\r\nUser-Agent: Vantage/");
  });

  it("has another key each time", async () => {
    const server = await startWebsocketServer();
    const url = `http://${HOST}:${server.port}/`;
    for (let run = 0; run < 2; run += 1) await verdictOf(monitorWebsocket, { url }, setting);
    await server.close();
    expect(new Set(server.requests.map((head) => /^Sec-WebSocket-Key: (.*)$/m.exec(head)?.[1])).size).toBe(2);
  });

  it("is sent a text, also a long one, and is up with the expected answer", async () => {
    const echo: WebsocketScript = {
      heard: (socket, { opcode, text }) => {
        if (opcode === 1) socket.write(serverFrame(TEXT, Buffer.from(`echo ${text}`, "latin1")));
      },
    };
    expect(await check(echo, { send: "größer", expect: "echo größer" })).toBe("up");
    const long = "x".repeat(400);
    expect(await check(echo, { send: long, expect: long })).toBe("up");
  });

  it.each<[string, WebsocketScript]>([
    ["in a binary message", sending(serverFrame(0x82, "\u0000ready"))],
    ["in a later message", sending(serverFrame(TEXT, "hello"), serverFrame(TEXT, "ready"))],
    ["in fragments with a ping between", sending(serverFrame(0x01, "re"), serverFrame(PING), serverFrame(0x80, "ady"))],
    ["in a message that has not ended", sending(serverFrame(0x01, "ready"))],
    ["octet by octet", { opened: (socket) => dripOctets(socket, serverFrame(TEXT, "ready")) }],
    ["in Latin-1", sending(serverFrame(0x82, Buffer.from("größer ready", "latin1")))],
  ])("is up if the text arrives %s", async (_how, script) => {
    expect(await check(script, { expect: "ready" })).toBe("up");
  });

  it("answers a ping with its payload", async () => {
    const heard: string[] = [];
    const script: WebsocketScript = {
      opened: (socket) => socket.write(serverFrame(PING, "are you there")),
      heard: (socket, { opcode, isMasked, text }) => {
        heard.push(`${opcode} ${isMasked} ${text}`);
        if (opcode === 10) socket.write(serverFrame(TEXT, "ready"));
      },
    };
    expect(await check(script, { expect: "ready" })).toBe("up");
    expect(heard[0]).toBe("10 true are you there");
  });

  it.each<[string | null, string, string]>([
    ["mqtt", "Sec-WebSocket-Protocol: mqtt\r\n", "up"],
    ["mqtt", "", 'subprotocol_refused: the server does not speak the subprotocol "mqtt"'],
    ["mqtt", "Sec-WebSocket-Protocol: wamp\r\n", 'the server chose the subprotocol "wamp"; "mqtt" was asked for'],
    [null, "Sec-WebSocket-Protocol: wamp\r\n", 'the server chose the subprotocol "wamp"; none was asked for'],
  ])("with the subprotocol %s and the answer %j is judged", async (subprotocol, fields, expected) => {
    expect(await check({ fields }, { subprotocol })).toContain(expected);
  });

  it("is down with a certificate that is not trusted, before the request is sent", async () => {
    const server = await startWebsocketServer({ tls: expired });
    const { fault } = await verdictOf(monitorWebsocket, { url: `https://${HOST}:${server.port}/` }, setting);
    await server.close();
    expect(fault).toMatchObject({ stage: "tls", reason: "expired" });
    expect(server.requests).toEqual([]);
  });

  it("gets no packet if the rules refuse its address", async () => {
    const server = await startWireServer("");
    const egress = createEgress({ targets: [], names: [] });
    for (const host of [HOST, "127.0.0.1"]) {
      const url = `http://${host}:${server.port}/`;
      // A literal is refused before the check begins.
      const run = runMonitor(monitorWebsocket, { url }, { ...setting, egress });
      expect(await run).toEqual({ status: "refused" });
    }
    expect(server.accepted()).toBe(0);
    await server.close();
  });
});

const RIGHT = (accept: string): string =>
  `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`;
const saying = (head: (accept: string) => string): WebsocketScript => ({
  answer: (socket, accept) => socket.write(`${head(accept)}\r\n`),
});

describe("the answer to the handshake", () => {
  it.each<[string, WebsocketScript, string]>([
    ["403", saying(() => "HTTP/1.1 403 Forbidden\r\n"), "unexpected_status: expected 101, got 403"],
    [
      "a redirect, which is not followed",
      saying(() => "HTTP/1.1 301 Moved\r\nLocation: /b\r\n"),
      "expected 101, got 301",
    ],
    [
      "an early hint before 101",
      saying((accept) => `HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 101 x\r\n${RIGHT(accept)}`),
      "up",
    ],
    [
      "fields in other cases",
      saying(
        (accept) =>
          `HTTP/1.1 101 x\r\nUPGRADE: WebSocket\r\nconnection: keep-alive, upgrade\r\nsec-websocket-accept: ${accept}\r\n`,
      ),
      "up",
    ],
    ["another protocol", saying(() => "HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n"), "not_websocket: "],
    ["a wrong key", saying((accept) => `HTTP/1.1 101 x\r\n${RIGHT(accept.toLowerCase())}`), "wrong_accept_key: "],
    ["no key", saying(() => "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"), "wrong_accept_key: "],
    [
      "two keys",
      saying((accept) => `HTTP/1.1 101 x\r\n${RIGHT(accept)}Sec-WebSocket-Accept: x\r\n`),
      "wrong_accept_key: ",
    ],
    [
      "an extension",
      saying((accept) => `HTTP/1.1 101 x\r\n${RIGHT(accept)}Sec-WebSocket-Extensions: permessage-deflate\r\n`),
      'extensions that were not offered: "permessage-deflate"',
    ],
    ["nothing", { answer: () => undefined }, "response/target/timeout"],
    [
      "an octet now and then",
      { answer: (socket) => drip(socket, "HTTP/1.1 101 x\r\n".repeat(1_000), 5) },
      "response/target/timeout",
    ],
    [
      "headers without an end",
      {
        answer: (socket) => {
          socket.write("HTTP/1.1 101 x\r\n");
          writeForever(socket, `a: ${"x".repeat(1_000)}\r\n`);
        },
      },
      "response/target/headers_overflow",
    ],
    [
      "informational heads without an end",
      { answer: (socket) => writeForever(socket, "HTTP/1.1 103 x\r\n\r\n".repeat(100)) },
      "response/target/informational_flood",
    ],
    ["another protocol's greeting", { answer: (socket) => socket.write("SSH-2.0-x\r\n") }, "response/target/not_http"],
    ["the end of the connection", { answer: (socket) => socket.end() }, "response/target/closed"],
    ["a reset", { answer: (socket) => socket.resetAndDestroy() }, "response/target/reset"],
  ])("%s is judged", async (_what, script, expected) => {
    expect(await check(script)).toContain(expected);
  });

  it("of an ordinary web server is its status", async () => {
    const server = createServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1");
    await until(() => server.listening, "it listens");
    const url = `http://${HOST}:${(server.address() as AddressInfo).port}/`;
    const result = await verdictOf(monitorWebsocket, { url }, setting);
    server.closeAllConnections();
    server.close();
    expect(result).toMatchObject({ http_status: 200, fault: { message: "expected 101, got 200" } });
  });

  it("that does not come is a failure of the connection, or of TLS", async () => {
    const plain = await startWireServer(() => undefined);
    const run = (url: string) => runMonitor(monitorWebsocket, { url, timeout_seconds: 1 }, setting);
    expect(failureOf(await run(`http://${HOST}:${await freePort()}/`))).toBe("connect/target/refused");
    expect(failureOf(await endsBy(1_000, () => run(`https://${HOST}:${plain.port}/`)))).toBe("tls/target/timeout");
    await plain.close();
  });
});

const opened = (act: (socket: Socket) => void): WebsocketScript => ({ opened: act });

describe("frames of a server", () => {
  it.each<[string, WebsocketScript, string]>([
    ["a close with a code", sending(serverFrame(CLOSE, Buffer.from([3, 232]))), "the WebSocket with code 1000"],
    [
      "a close with a code and words",
      sending(serverFrame(CLOSE, Buffer.from("\u0003\u00f0no entry", "latin1"))),
      'websocket_closed: the server closed the WebSocket with code 1008 "no entry"',
    ],
    ["a close without a code", sending(serverFrame(CLOSE)), "the server closed the WebSocket without a code"],
    [
      "a masked frame",
      sending(Buffer.from([TEXT, 0x85, 0, 0, 0, 0, 114, 101, 97, 100, 121])),
      "protocol_error: the server breaks the protocol: a masked frame",
    ],
    ["reserved bits", sending(serverFrame(0xc1, "ready")), "reserved bits are set, though no extension was agreed"],
    ["an unknown opcode", sending(serverFrame(0x83, "ready")), "the unknown opcode 3"],
    ["a fragmented ping", sending(serverFrame(0x09)), "a control frame that is fragmented or longer than 125 bytes"],
    [
      "a long ping",
      sending(serverFrame(PING, "x".repeat(126))),
      "a control frame that is fragmented or longer than 125 bytes",
    ],
    [
      "a frame of 2^63 octets",
      sending(Buffer.from([TEXT, 127, 128, 0, 0, 0, 0, 0, 0, 0])),
      "too_much_data: the server sends more than 64 KB: a frame has 9,223,372,036,854,775,808 bytes",
    ],
    ["a frame of 65,537 octets", sending(Buffer.from([TEXT, 127, 0, 0, 0, 0, 0, 1, 0, 1])), "a frame has 65,537 bytes"],
    ["a continuation of nothing", sending(serverFrame(0x80, "ready")), "a continuation of no message"],
    [
      "a message within another",
      sending(serverFrame(0x01, "re"), serverFrame(TEXT, "ready")),
      "a message within another one",
    ],
    ["a text that is not UTF-8", sending(serverFrame(TEXT, Buffer.from([0xff]))), "a text message that is not UTF-8"],
    [
      "fragments without an end",
      opened((socket) => {
        socket.write(serverFrame(0x01));
        writeForever(socket, Buffer.concat(Array.from({ length: 1_000 }, () => serverFrame(0x00))));
      }),
      'text_missing: the server sent 64 KB without "ready"',
    ],
    [
      "messages without an end",
      opened((socket) => writeForever(socket, serverFrame(TEXT, "x".repeat(1_000)))),
      "64 KB",
    ],
    [
      "pings without an end",
      opened((socket) => writeForever(socket, Buffer.concat(Array.from({ length: 1_000 }, () => serverFrame(PING))))),
      "64 KB",
    ],
    ["octets that are no frames", opened((socket) => writeForever(socket, "\r\n".repeat(500))), "protocol_error: "],
    ["nothing", {}, 'response/target/timeout: "ready" was not found in time; the server said nothing'],
    ["half a frame", sending(Buffer.from([TEXT, 5, 114])), "response/target/timeout: "],
    [
      "another message and then nothing",
      sending(serverFrame(TEXT, "hello \u0007")),
      'in time; the server said "hello \ufffd"',
    ],
    [
      "the end of the connection",
      opened((socket) => socket.end()),
      'response/target/closed: the server closed the connection before "ready" was found',
    ],
  ])("%s are judged", async (_what, script, expected) => {
    expect(await check(script, { expect: "ready" })).toContain(expected);
  });
});
