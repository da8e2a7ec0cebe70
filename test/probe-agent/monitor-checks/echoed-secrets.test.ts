import { describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { monitorGrpc } from "#probe-agent/monitor-checks/monitor-grpc.ts";
import { monitorHttp } from "#probe-agent/monitor-checks/monitor-http.ts";
import { monitorTcp } from "#probe-agent/monitor-checks/monitor-tcp.ts";
import { monitorWebsocket } from "#probe-agent/monitor-checks/monitor-websocket.ts";
import { startGrpcServer } from "#test/servers/grpc-health.ts";
import { createPki } from "#test/servers/pki.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { serverFrame, startWebsocketServer, type WebsocketScript } from "#test/servers/websocket.ts";
import { startWireServer, type WireHandler } from "#test/servers/wire.ts";
import { freePort } from "#test/support/free-port.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";

const SECRET = "k3y-of-the-Target";
const OPENING = Buffer.from(SECRET).toString("base64").replace("==", "");
/** Names of the tests' own machine. */
const egress = createEgress({ targets: ["127.0.0.0/8"], names: ["localhost"] });

/** Everything that a check says about its target, as JSON. */
async function said(...args: Parameters<typeof runMonitor>): Promise<string> {
  const [check, given, setting] = args;
  const outcome = await runMonitor(check, { timeout_seconds: 1, always_whole: true, ...given }, { egress, ...setting });
  return JSON.stringify(outcome);
}

describe("a TCP server that repeats what is sent to it", () => {
  const check = async (handler: WireHandler, given: object): Promise<string> => {
    const server = await startWireServer(handler);
    const words = await said(monitorTcp, { host: "127.0.0.1", port: server.port, ...given });
    await server.close();
    return words;
  };
  const send = `AUTH ${SECRET}\r\n`;

  it.each<[string, (received: string) => string, string]>([
    ["as it is", (received) => `ERR ${received}`, 'the server said \\"ERR ***\\"'],
    ["in part", () => "ERR (k3y-of-the)", 'the server said \\"ERR (***)\\"'],
    ["in JSON", (received) => JSON.stringify({ echo: received }), 'the server said \\"{\\\\\\"echo\\\\\\":\\\\\\"***'],
    ["in base64", () => `ERR ${OPENING}`, 'the server said \\"ERR ***'],
    ["after much else", (received) => `${"x".repeat(110)}${received}`, `${"x".repeat(110)}***\\"`],
  ])("%s is quoted without it", async (_how, answer, words) => {
    const shown = await check((socket, received) => socket.end(answer(received)), { send, expect: "OK" });
    expect(shown).toContain(words);
    expect(shown).not.toContain("k3y");
    expect(shown).not.toContain(OPENING.slice(0, 11));
  });

  it("does not take our own words, or those that the user expects, out of the message", async () => {
    const words = "the server closed the connection before was found; the server said";
    const shown = await check((socket) => socket.end("hello"), {
      send: `${words} Ready-for-all`,
      expect: "Ready-for-all",
    });
    expect(shown).toContain(
      'the server closed the connection before \\"Ready-for-all\\" was found; the server said \\"hello\\"',
    );
  });

  it("has its certificate's names in the message without it", async () => {
    const pki = await createPki();
    const server = await startHttpServer({
      tls: identityOf(await pki.issue({ dns: [`${SECRET.toLowerCase()}.example`] }), pki.intermediate),
    });
    const given = { host: "127.0.0.1", port: server.port, tls: "implicit", send: SECRET.toLowerCase() };
    const shown = await said(monitorTcp, given, { roots: [pki.root.pem] });
    await server.close();
    expect(shown).toContain("The certificate is for ***.example, not for 127.0.0.1");
  });
});

describe("a WebSocket server that repeats what is sent to it", () => {
  const check = async (script: WebsocketScript, given: object = {}): Promise<string> => {
    const server = await startWebsocketServer(script);
    const url = `http://127.0.0.1:${server.port}/`;
    const words = await said(monitorWebsocket, { url, send: SECRET, expect: "OK", ...given });
    await server.close();
    return words;
  };
  const CLOSE = Buffer.from([0x03, 0xf0]);

  it.each<[string, WebsocketScript, string]>([
    ["a message", { heard: (socket, { text }) => socket.end(serverFrame(0x81, `no: ${text}`)) }, 'said \\"no: ***\\"'],
    [
      "the reason of its close",
      { heard: (socket, { text }) => socket.end(serverFrame(0x88, Buffer.concat([CLOSE, Buffer.from(text)]))) },
      'with code 1008 \\"***\\"',
    ],
    ["the names of extensions", { fields: `Sec-WebSocket-Extensions: ${SECRET}\r\n` }, 'not offered: \\"***\\"'],
    ["the name of a subprotocol", { fields: `Sec-WebSocket-Protocol: ${SECRET}\r\n` }, 'the subprotocol \\"***\\"'],
    ["an answer that is not HTTP", { answer: (socket) => socket.end(`no ${SECRET}`) }, 'starts with \\"no ***\\"'],
    ["a status line", { answer: (socket) => socket.end(`HTTP/1.1 ${SECRET}\r\n\r\n`) }, 'the status code \\"***\\"'],
  ])("in %s is quoted without it", async (_where, script, words) => {
    const shown = await check(script);
    expect(shown).toContain(words);
    expect(shown).not.toContain("k3y");
  });
});

describe("a gRPC server that repeats its metadata", () => {
  it("is quoted without them", async () => {
    const server = await startGrpcServer({ code: 16, details: `bad key (${SECRET}), accepted (fruits-only)` });
    const metadata = [
      ["authorization", `Bearer ${SECRET}`],
      ["accept", "fruits-only"],
    ];
    const shown = await said(monitorGrpc, { host: "127.0.0.1", port: server.port, metadata });
    server.close();
    expect(shown).toContain('the server answered UNAUTHENTICATED: \\"bad key (***), accepted (***)\\"');
  });
});

describe("an HTTP server that repeats what is sent to it", () => {
  const headers = [
    ["X-Api-Key", SECRET],
    ["Accept-Language", "fr-or-else-italian"],
  ] as const;
  const check = async (answer: string, given: object = {}): Promise<string> => {
    const server = await startWireServer(answer.replaceAll("{SECRET}", SECRET));
    const words = await said(monitorHttp, { url: `http://127.0.0.1:${server.port}/`, headers, ...given });
    await server.close();
    return words;
  };
  const JSON_BODY = `HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n{"echo":"${SECRET}"}`;

  it.each<[string, string, object, string]>([
    [
      "a header, the reason phrase and a media type",
      "HTTP/1.1 500 bad {SECRET}\r\nContent-Type: {SECRET}; charset={SECRET}\r\nX-{SECRET}: 1 {SECRET} 2\r\n\r\n",
      {},
      '{"name":"X-***","value":"1 *** 2"}',
    ],
    ["a Location that leads nowhere", "HTTP/1.1 302 F\r\nLocation: /{SECRET}\r\n\r\n", { follow: false }, "/***"],
    ["a value of JSON", JSON_BODY, { json: { path: "$.echo", op: "equals", value: "ok" } }, '$.echo is \\"***\\"'],
    ["an answer that is not HTTP", "no {SECRET}", {}, 'it starts with \\"no ***\\"'],
    ["a status line", "HTTP/1.1 {SECRET}\r\n\r\n", {}, 'the status code \\"***\\" is not three digits'],
  ])("in %s is quoted without it", async (_where, answer, given, words) => {
    const shown = await check(answer, given);
    expect(shown).toContain(words);
    expect(shown.toLowerCase()).not.toContain("k3y");
  });

  it("in the address of a redirect that nobody answers is quoted without it", async () => {
    const shown = await check(`HTTP/1.1 302 F\r\nLocation: http://localhost:${await freePort()}/?q={SECRET}\r\n\r\n`);
    expect(shown).toContain("after 1 redirect, at http://localhost:");
    expect(shown).toContain("/?q=***: ");
    expect(shown).not.toContain("k3y");
  });

  it("in the addresses of redirects has them in the result without it", async () => {
    const server = await startHttpServer({
      handler: (request, response) => {
        if (request.url === "/status/200") return false;
        const next = request.url === "/" ? `/again?q=${SECRET}` : "/status/200";
        response.writeHead(302, { location: next }).end();
        return true;
      },
    });
    const url = `${server.url}/`;
    const shown = await said(monitorHttp, { url, headers, method: "POST", body: "x" });
    await server.close();
    expect(shown).toContain("/again?q=***");
    expect(shown).not.toContain("k3y");
  });

  it("is quoted with the fields that describe the client, and with its address as the user wrote it", async () => {
    const server = await startWireServer("HTTP/1.1 200 OK\r\nX-Echo: fr-or-else-italian\r\nContent-Length: 0\r\n\r\n");
    const url = `http://127.0.0.1:${server.port}/${SECRET}`;
    const { whole } = await verdictOf(monitorHttp, { url, headers, always_whole: true }, { egress });
    await server.close();
    expect(whole).toMatchObject({
      url,
      final_url: url,
      headers: expect.arrayContaining([{ name: "X-Echo", value: "fr-or-else-italian" }]),
    });
  });

  it("is quoted without its body", async () => {
    const server = await startWireServer(`HTTP/1.1 500 no\r\nX-Echo: {"user":"a","pass":"${SECRET}"}\r\n\r\n`);
    const url = `http://127.0.0.1:${server.port}/`;
    const body = JSON.stringify({ pass: SECRET, user: "a" });
    const shown = await said(monitorHttp, { url, method: "POST", body });
    await server.close();
    expect(shown).toContain("X-Echo");
    expect(shown).not.toContain("k3y");
  });
});
