import type { Socket } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { monitorGrpc } from "#probe-agent/monitor-checks/monitor-grpc.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startGrpcServer } from "#test/servers/grpc-health.ts";
import { fieldBlock, frame, startFrameServer, word } from "#test/servers/h2-frames.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { startWireServer, writeForever } from "#test/servers/wire.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf, identityOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";
import { until } from "#test/support/until.ts";

const HOST = "rpc.example.net";
const pki = await createPki();
const leaf = await pki.issue({ dns: [HOST] });
const tls = identityOf(leaf, pki.intermediate);
const expired = identityOf(await pki.issue({ dns: [HOST], notAfter: daysFromNow(-2) }), pki.intermediate);
const dns = await startDnsServer({ zones: { [HOST]: { A: ["127.0.0.1"] } } });
afterAll(() => dns.close());
const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };

const verdict = (port: number, given: object = {}) => verdictOf(monitorGrpc, { host: HOST, port, ...given }, setting);

/** The words of a fault; "up" without one. */
async function words(port: number, given: object = {}): Promise<string> {
  const { fault } = await verdict(port, given);
  return fault === null ? "up" : `${fault.stage}/${fault.reason}: ${fault.message}`;
}

describe("a gRPC server", () => {
  it.each([
    ["in the clear", false],
    ["over TLS", true],
  ])("%s is up if it is SERVING", async (_how, isSecure) => {
    const server = await startGrpcServer(1, { tls: isSecure ? tls : null });
    const metadata = [
      ["authorization", "Bearer secret"],
      ["x-twice", "1"],
      ["x-twice", "2"],
      ["token-bin", "AAEC"],
    ];
    const result = await verdict(server.port, { tls: isSecure, service: "shop.Cart", metadata });
    server.close();
    expect(result).toMatchObject({ verdict: "up", http_status: 200, fault: null, whole: null });
    const { redirect_ms, dns_ms, connect_ms, tls_ms, processing_ms } = result.phases ?? expect.fail("no phases");
    expect(redirect_ms).toBe(0);
    expect(tls_ms > 0).toBe(isSecure);
    expect(dns_ms + connect_ms + tls_ms + processing_ms).toBeCloseTo(result.response_ms, 6);
    expect(result.certificate_fingerprint === null).toBe(!isSecure);
    expect(server.requests).toMatchObject([
      {
        service: "shop.Cart",
        metadata: { authorization: "Bearer secret", "x-twice": "1, 2", "token-bin": Buffer.from([0, 1, 2]) },
      },
    ]);
    expect(server.requests[0]?.metadata["user-agent"]).toMatch(/^Vantage\//);
  });

  it.each<[Parameters<typeof startGrpcServer>[0], string]>([
    [0, "response/health_unknown: the server is UNKNOWN"],
    [2, "response/not_serving: the server is NOT_SERVING"],
    [3, "response/service_unknown: the server is SERVICE_UNKNOWN"],
    [7, "response/health_status: the server has the unknown health status 7"],
    [{ code: 5, details: "who?" }, 'response/grpc_not_found: the server answered NOT_FOUND: "who?"'],
    [{ code: 12, details: "" }, "response/grpc_unimplemented: the server has no health service (grpc.health.v1)"],
    [
      { code: 7, details: "größer\n100 % no" },
      'response/grpc_permission_denied: the server answered PERMISSION_DENIED: "größer 100 % no"',
    ],
    [{ code: 14, details: "" }, "response/grpc_unavailable: the server answered UNAVAILABLE"],
  ])("that answers %j is down", async (answer, expected) => {
    const server = await startGrpcServer(answer);
    expect(await words(server.port)).toBe(expected);
    server.close();
  });

  it("is asked about a service, which the words name, also a long one", async () => {
    const server = await startGrpcServer(2);
    const service = `shop.${"x".repeat(200)}`;
    expect(await words(server.port, { service: "shop.Cart" })).toContain('the service "shop.Cart" is NOT_SERVING');
    await words(server.port, { service });
    server.say({ code: 5, details: "" });
    expect(await words(server.port, { service: "x" })).toBe(
      'response/grpc_not_found: the server does not know the service "x"',
    );
    server.close();
    expect(server.requests.map((request) => request.service)).toEqual(["shop.Cart", service, "x"]);
  });

  it("without a health service is down, with words for it", async () => {
    const server = await startGrpcServer(1, { path: "/shop.Cart/Get" });
    expect(await words(server.port)).toContain("the server has no health service (grpc.health.v1)");
    server.close();
  });

  it("is down with a certificate that is not trusted, before the metadata is sent", async () => {
    const server = await startGrpcServer(1, { tls: expired });
    expect(await words(server.port, { tls: true, metadata: [["authorization", "secret"]] })).toMatch(
      /^tls\/expired: The certificate expired on /,
    );
    server.close();
    expect(server.requests).toEqual([]);
  });

  it("over TLS is down if it does not offer HTTP/2", async () => {
    const http1 = await startHttpServer({ tls });
    const none = await startTlsServer({ chain: [leaf, pki.intermediate] });
    for (const { port } of [http1, none]) {
      expect(await words(port, { tls: true })).toContain("tls/no_http2: the server does not offer HTTP/2 (ALPN h2)");
    }
    await Promise.all([http1.close(), none.close()]);
  });

  it("gets no packet if the rules refuse its address", async () => {
    const server = await startWireServer("");
    const egress = createEgress({ targets: [], names: [] });
    const outcome = await runMonitor(monitorGrpc, { host: HOST, port: server.port }, { ...setting, egress });
    expect(outcome).toEqual({ status: "refused" });
    expect(server.accepted()).toBe(0);
    await server.close();
  });
});

const HEAD = { ":status": "200", "content-type": "application/grpc" };
const END_STREAM = 1;
const END_HEADERS = 4;
const head = (fields: Record<string, string> = HEAD, flags = END_HEADERS): Buffer =>
  frame("headers", flags, 1, fieldBlock(fields));
const trailers = (fields: Record<string, string>): Buffer => head(fields, END_HEADERS | END_STREAM);
const data = (octets: readonly number[], flags = 0): Buffer => frame("data", flags, 1, Buffer.from(octets));
const SERVING = [0, 0, 0, 0, 2, 8, 1];
const OK = trailers({ "grpc-status": "0" });

/** Runs the check against a server of frames. The connection must be closed at its end, by its deadline. */
async function againstFrames(answer: readonly Buffer[] | ((socket: Socket) => void)): Promise<string> {
  const server = await startFrameServer((socket) => {
    if (typeof answer === "function") answer(socket);
    else socket.write(Buffer.concat(answer));
  }, null);
  const params = { host: HOST, port: Number(new URL(server.url).port), timeout_seconds: 1 };
  const outcome = await endsBy(1_000, () => runMonitor(monitorGrpc, params, setting));
  await until(() => server.open() === 0, "the connection is closed");
  await server.close();
  if (outcome.status !== "ok") return failureOf(outcome);
  const { fault } = outcome.data;
  return fault === null ? "up" : `${fault.reason}: ${fault.message}`;
}

describe("an answer over HTTP/2", () => {
  it.each<[string, readonly Buffer[], string]>([
    [
      "with other fields around the status",
      [head(), data([0, 0, 0, 0, 9, 0x12, 1, 65, 8, 2, 8, 1, 0x18, 5]), OK],
      "up",
    ],
    ["octet by octet", [head(), ...SERVING.map((octet) => data([octet])), OK], "up"],
    [
      "with another content-type of gRPC",
      [head({ ...HEAD, "content-type": "application/grpc+proto" }), data(SERVING), OK],
      "up",
    ],
    [
      "of trailers only",
      [trailers({ ...HEAD, "grpc-status": "14", "grpc-message": "%ff%20gone" })],
      'UNAVAILABLE: "\ufffd gone"',
    ],
    [
      "of trailers only with OK",
      [trailers({ ...HEAD, "grpc-status": "0" })],
      "no_message: the server answered OK without a message",
    ],
    ["of HTTP", [trailers({ ":status": "503" })], "unexpected_status: expected 200, got 503"],
    [
      "of another type",
      [head({ ":status": "200", "content-type": "text/html" }), OK],
      'the answer is not gRPC: its content-type is "text/html"',
    ],
    ["without a type", [head({ ":status": "200" }), OK], "not_grpc: the answer is not gRPC: it has no content-type"],
    ["without a status", [head(), data(SERVING, END_STREAM)], "no_grpc_status: the answer ends without a grpc-status"],
    ["with a status that is no number", [head(), trailers({ "grpc-status": "fine" })], 'the gRPC status "fine"'],
    ["with an unknown status", [head(), trailers({ "grpc-status": "99" })], 'the gRPC status "99"'],
    ["that is compressed", [head(), data([1, 0, 0, 0, 2, 8, 1]), OK], "message_compressed: "],
    [
      "with a huge length",
      [head(), data([0, 255, 255, 255, 255, 8, 1]), OK],
      "the message has 4,294,967,295 bytes, and 2 were sent",
    ],
    ["with half a prefix", [head(), data([0, 0]), OK], "message_incomplete: the message is incomplete"],
    ["with two messages", [head(), data([...SERVING, ...SERVING]), OK], "several_messages: "],
    ["that is no message", [head(), data([0, 0, 0, 0, 2, 8, 255]), OK], "message_malformed: "],
    ["with a field beyond its end", [head(), data([0, 0, 0, 0, 3, 0x12, 9, 8]), OK], "message_malformed: "],
    ["that is reset", [head(), frame("rst_stream", 0, 1, word(2))], "response/target/protocol_error"],
    ["that is refused", [frame("rst_stream", 0, 1, word(7))], "response/target/closed"],
    ["that the server goes away from", [frame("goaway", 0, 0, word(0, 0))], "response/target/closed"],
    [
      "with a head that is too large",
      [head({ ...HEAD, a: "x".repeat(9_000) }), ...Array.from({ length: 8 }, () => head({ b: "x".repeat(9_000) }))],
      "response/target/",
    ],
  ])("%s is judged", async (_what, frames, expected) => {
    expect(await againstFrames(frames)).toContain(expected);
  });

  it.each<[string, (socket: Socket) => void, string]>([
    ["says nothing", () => undefined, "response/target/timeout"],
    [
      "never ends its answer",
      (socket) => socket.write(Buffer.concat([head(), data(SERVING)])),
      "response/target/timeout",
    ],
    [
      "sends data without an end",
      (socket) => {
        socket.write(head());
        writeForever(socket, data(Array.from({ length: 1_000 }, () => 0)));
      },
      "the server sent more than 64 KB; the message has 0 bytes",
    ],
    [
      "sends CONTINUATION without an end",
      (socket) => {
        socket.write(head(HEAD, 0));
        writeForever(socket, frame("continuation", 0, 1, fieldBlock({ a: "x".repeat(1_000) })));
      },
      "response/target/",
    ],
    [
      "sends settings without an end",
      (socket) =>
        writeForever(
          socket,
          Buffer.concat(Array.from({ length: 100 }, () => frame("settings", 0, 0, Buffer.alloc(0)))),
        ),
      "response/target/",
    ],
    [
      "sends pings without an end",
      (socket) =>
        writeForever(socket, Buffer.concat(Array.from({ length: 100 }, () => frame("ping", 0, 0, Buffer.alloc(8))))),
      "response/target/",
    ],
    [
      "sends informational heads without an end",
      (socket) => writeForever(socket, Buffer.concat(Array.from({ length: 50 }, () => head({ ":status": "103" })))),
      "response/target/informational_flood",
    ],
    ["closes", (socket) => socket.end(), "response/target/closed"],
    ["resets the connection", (socket) => socket.resetAndDestroy(), "response/target/reset"],
  ])("of a server that %s ends by the deadline", async (_what, answer, expected) => {
    expect(await againstFrames(answer)).toContain(expected);
  });

  it("is a failure if the server speaks another protocol, or none", async () => {
    const http = await startHttpServer();
    const mute = await startWireServer(() => undefined);
    const run = (port: number, given = {}) =>
      runMonitor(monitorGrpc, { host: HOST, port, timeout_seconds: 1, ...given }, setting);
    expect(failureOf(await run(http.port))).toBe("response/target/protocol_error");
    expect(failureOf(await run(http.port, { tls: true }))).toBe("tls/target/plain_text");
    expect(failureOf(await endsBy(1_000, () => run(mute.port)))).toBe("response/target/timeout");
    expect(failureOf(await endsBy(1_000, () => run(mute.port, { tls: true })))).toBe("tls/target/timeout");
    expect(failureOf(await run(await freePort()))).toBe("connect/target/refused");
    await Promise.all([http.close(), mute.close()]);
  });
});

describe("the metadata of a monitor", () => {
  it.each<[readonly (readonly [string, string])[], string | undefined]>([
    [[["x-a", "1"]], undefined],
    [[["X-A", "1"]], "names must consist of 0-9, a-z, _ . and -"],
    [[[":path", "1"]], "names must consist of 0-9, a-z, _ . and -"],
    [[["grpc-timeout", "1S"]], "grpc-timeout cannot be set: the client sets it"],
    [[["te", "x"]], "te cannot be set: the client sets it"],
    [[["a", "x\r\ny"]], "a must be printable ASCII"],
    [[["a-bin", "?"]], "a-bin must be base64"],
  ])("%j is checked", (metadata, expected) => {
    expect(monitorGrpc.contract.refine?.({ metadata } as never)?.message).toBe(expected);
  });
});
