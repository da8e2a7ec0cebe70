import {
  createSecureServer,
  type Http2SecureServer,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServer, type Identity } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { failureOf, httpEngine, identityOf, pageOf, TEST_AGENT } from "#test/support/http-engine.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { until } from "#test/support/until.ts";

const get = httpEngine();
let identity: Identity;
let server: HttpServer;

beforeAll(async () => {
  const pki = await createPki();
  identity = identityOf(await pki.issue({ ip: ["127.0.0.1"] }), pki.intermediate);
  server = await startHttpServer({ tls: identity, h2: true });
});
afterAll(() => server.close());

describe("a fetch over HTTP/2", () => {
  it("is chosen by ALPN, and keeps header fields in wire order with repeats", async () => {
    const page = pageOf(await get({ url: `${server.url}/cookies/3` }));
    expect(page.final).toMatchObject({ code: 200, httpVersion: "2", statusText: "", tls: { alpn: "h2" } });
    expect(page.final.headers.slice(0, 3)).toEqual([
      ["set-cookie", "c0=0; Path=/"],
      ["set-cookie", "c1=1; Path=/"],
      ["set-cookie", "c2=2; Path=/"],
    ]);
    expect(Buffer.from(page.body.bytes).toString()).toBe("cookies\n");
  });

  it("sends the request in order, with its body", async () => {
    const more = { headers: [["X-Twice", "1"] as const, ["X-Twice", "2"] as const], body: Buffer.from("hello") };
    await get({ url: `${server.url}/echo?q`, method: "POST", ...more });
    expect(server.requests.at(-1)).toMatchObject({
      method: "POST",
      path: "/echo?q",
      httpVersion: "2.0",
      body: "hello",
    });
    expect(server.requests.at(-1)?.headers).toEqual([
      [":method", "POST"],
      [":scheme", "https"],
      [":authority", `127.0.0.1:${server.port}`],
      [":path", "/echo?q"],
      ["user-agent", TEST_AGENT],
      ["accept", "*/*"],
      ["accept-encoding", "gzip, deflate, br, zstd"],
      ["x-twice", "1"],
      ["x-twice", "2"],
      ["content-length", "5"],
    ]);
  });

  it("follows redirects, decodes bodies, answers HEAD", async () => {
    expect(pageOf(await get({ url: `${server.url}/redirect/3` })).hops.map(({ httpVersion }) => httpVersion)).toEqual([
      "2",
      "2",
      "2",
      "2",
    ]);
    const { body } = pageOf(await get({ url: `${server.url}/encoded/gzip,br` }));
    expect(Buffer.from(body.bytes).toString()).toBe("Hello, world. ".repeat(100));
    const head = pageOf(await get({ url: `${server.url}/bytes/50`, method: "HEAD" }));
    expect(head.body).toMatchObject({ transferredBytes: 0, error: null });
  });

  it("is not used if the caller or the server does not offer it", async () => {
    const page = pageOf(await get({ url: `${server.url}/`, alpn: ["http/1.1"] }));
    expect(page.final).toMatchObject({ httpVersion: "1.1", tls: { alpn: "http/1.1" } });
    const only = await startHttpServer({ tls: identity, h2: "only" });
    expect(failureOf(await get({ url: `${only.url}/`, alpn: ["http/1.1"] }))).toMatch(/^tls\/target\//);
    await only.close();
  });

  it("reads a large body faster than one window", async () => {
    const { body } = pageOf(await get({ url: `${server.url}/bytes/3000000` }));
    expect(body).toMatchObject({ transferredBytes: 3_000_000, truncated: false, error: null });
  });

  it("truncates an endless body at the limit and closes", async () => {
    const { body } = pageOf(await get({ url: `${server.url}/endless-body`, maxBodyBytes: 100_000 }));
    expect(body).toMatchObject({ decodedBytes: 100_000, truncated: true });
    await until(() => server.open() === 0, "the connection is closed");
  });
});

/** An option that is documented for sessions and missing in the type of server options. */
const UNLIMITED: object = { maxSendHeaderBlockLength: 10_000_000 };

function respondWith(stream: ServerHttp2Stream, count: number, length: number): void {
  const fields = Array.from({ length: count }, (_, index) => [`x-${index}`, "a".repeat(length)]);
  stream.respond({ ":status": 200, ...Object.fromEntries(fields) });
}

describe("a hostile HTTP/2 server", () => {
  async function against(
    behaviour: (stream: ServerHttp2Stream, server: Http2SecureServer) => void,
    timeoutMs = 60_000,
  ) {
    const unlimited: SecureServerOptions = { ...identity, ...UNLIMITED };
    const hostile = createSecureServer(unlimited);
    let open = 0;
    hostile.on("connection", (socket) => {
      open += 1;
      socket.on("close", () => {
        open -= 1;
      });
    });
    hostile.on("session", (session) => session.on("error", () => undefined));
    hostile.on("stream", (stream) => {
      stream.on("error", () => undefined);
      behaviour(stream, hostile);
    });
    await new Promise<void>((resolve) => {
      hostile.listen(0, "127.0.0.1", resolve);
    });
    const url = `https://127.0.0.1:${(hostile.address() as AddressInfo).port}/`;
    const outcome = await endsBy(timeoutMs, () => get({ url }, timeoutMs));
    await until(() => open === 0, "the connection is closed");
    hostile.close();
    return outcome;
  }

  it.each<[string, (stream: ServerHttp2Stream) => void, string]>([
    ["says nothing", () => undefined, "response/target/timeout"],
    [
      "drips its body",
      (stream) => {
        stream.respond({ ":status": 200 });
        const timer = setInterval(() => void stream.write("x"), 20);
        stream.on("close", () => clearInterval(timer));
      },
      "response/target/timeout",
    ],
    ["refuses the stream", (stream) => stream.close(7), "response/target/closed"],
    ["breaks the protocol", (stream) => stream.close(1), "response/target/protocol_error"],
    ["closes the stream without an answer", (stream) => stream.close(0), "response/target/closed"],
    ["goes away", (stream) => stream.session?.destroy(), "response/target/closed"],
    ["drops the connection", (stream) => void stream.session?.socket.destroy(), "response/target/closed"],
    [
      "sends early hints for ever",
      (stream) => {
        for (let n = 0; n < 200; n += 1) stream.additionalHeaders({ ":status": 103, link: `</${n}.css>` });
      },
      "response/target/informational_flood",
    ],
    ["sends one header too large", (stream) => respondWith(stream, 2, 60_000), "response/target/headers_overflow"],
    ["sends too many headers", (stream) => respondWith(stream, 1200, 10), "response/target/headers_overflow"],
    ["sends headers in endless frames", (stream) => respondWith(stream, 200, 2000), "response/target/headers_overflow"],
  ])("that %s ends in time with the reason", async (_what, behaviour, expected) => {
    expect(failureOf(await against(behaviour, expected.endsWith("/timeout") ? 700 : undefined))).toBe(expected);
  });

  it("that ends the stream before its Content-Length gets a result with the error incomplete", async () => {
    const outcome = await against((stream) => {
      stream.respond({ ":status": 200, "content-length": "1000" });
      stream.write("some of it", () => stream.close(2));
    });
    expect(pageOf(outcome).body).toMatchObject({ error: "incomplete", transferredBytes: 10 });
  });

  it("that drops the connection within the body gets a result with the error incomplete", async () => {
    const outcome = await against((stream) => {
      stream.respond({ ":status": 200 });
      stream.write("some of it", () => setTimeout(() => stream.session?.socket.destroy(), 20));
    });
    expect(pageOf(outcome).body).toMatchObject({ error: "incomplete", transferredBytes: 10 });
  });

  it("that requires HTTP/1.1 for the request gets it", async () => {
    const picky = await startHttpServer({
      tls: identity,
      h2: true,
      handler: (request, _response, { httpVersion }) => {
        if (httpVersion !== "2.0") return false;
        (request as unknown as { stream: ServerHttp2Stream }).stream.close(13);
        return true;
      },
    });
    expect(pageOf(await get({ url: `${picky.url}/` })).final).toMatchObject({ code: 200, httpVersion: "1.1" });
    await picky.close();
  });
});
