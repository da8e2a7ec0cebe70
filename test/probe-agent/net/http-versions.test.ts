import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { startH2cServer, type H2cServer } from "#test/servers/h2c.ts";
import { startHttpServer, type Handler, type HttpServer, type HttpServerOptions } from "#test/servers/http.ts";
import { createPki, type Pki } from "#test/servers/pki.ts";
import { startWireServer, type WireServer } from "#test/servers/wire.ts";
import { failureOf, httpEngine, identityOf, pageOf } from "#test/support/http-engine.ts";
import { until } from "#test/support/until.ts";

const text = new TextDecoder();
const open: (HttpServer | H2cServer | WireServer)[] = [];
let pki: Pki;
let fetch: ReturnType<typeof httpEngine>;

beforeAll(async () => {
  pki = await createPki();
  fetch = httpEngine({ roots: [pki.root.pem] });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

function keep<S extends (typeof open)[number]>(server: S): S {
  open.push(server);
  return server;
}

async function serve(options: HttpServerOptions = {}): Promise<HttpServer> {
  return keep(await startHttpServer(options));
}

async function serveTls(h2: HttpServerOptions["h2"], handler?: Handler): Promise<HttpServer> {
  const leaf = await pki.issue({ ip: ["127.0.0.1"] });
  const options = { ...(h2 === undefined ? {} : { h2 }), ...(handler === undefined ? {} : { handler }) };
  return serve({ tls: identityOf(leaf, pki.intermediate), ...options });
}

describe("a request as HTTP/1.0", () => {
  it("has the version in its request line, and also a Host", async () => {
    const wire = keep(await startWireServer("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold"));
    const page = pageOf(await fetch({ url: `http://127.0.0.1:${wire.port}/a?b`, httpVersion: "1.0" }));
    expect(page.final.httpVersion).toBe("1.0");
    expect(text.decode(page.body.bytes)).toBe("old");
    expect(wire.received[0]).toMatch(new RegExp(`^GET /a\\?b HTTP/1\\.0\r\nHost: 127\\.0\\.0\\.1:${wire.port}\r\n`));
  });

  it("offers no ALPN over TLS, and is 1.0 on every hop", async () => {
    const server = await serveTls(true);
    const page = pageOf(await fetch({ url: `${server.url}/redirect/1`, httpVersion: "1.0" }));
    expect(page.final.tls?.alpn).toBeNull();
    expect(server.requests.map(({ httpVersion }) => httpVersion)).toEqual(["1.0", "1.0"]);
  });
});

describe("TLS without ALPN", () => {
  it("is HTTP/1.1 to a server that has both versions", async () => {
    const server = await serveTls(true);
    const page = pageOf(await fetch({ url: `${server.url}/`, alpn: [] }));
    expect([page.final.httpVersion, page.final.tls?.alpn]).toEqual(["1.1", null]);
  });

  it("names the group of the key exchange", async () => {
    const server = await serveTls(false);
    const page = pageOf(await fetch({ url: `${server.url}/` }));
    expect(page.final.tls?.group).toMatch(/^(X25519MLKEM768|X25519|prime256v1)$/);
  });
});

describe("HTTP/2 without TLS", () => {
  it("is used from the first octet on with prior knowledge", async () => {
    const server = keep(await startH2cServer("prior_knowledge"));
    const page = pageOf(await fetch({ url: `${server.url}/`, h2c: "prior_knowledge" }));
    expect([page.final.httpVersion, page.final.code]).toEqual(["2", 200]);
    expect(text.decode(page.body.bytes)).toBe("hello over h2c\n");
  });

  it("fails if the server supports only HTTP/1.1", async () => {
    const server = await serve();
    expect(failureOf(await fetch({ url: `${server.url}/`, h2c: "prior_knowledge" }))).toMatch(/^response\/target\//);
  });

  it("is requested by Upgrade, and the server then proves that it supports it", async () => {
    const server = keep(await startH2cServer("upgrade"));
    const page = pageOf(await fetch({ url: `${server.url}/`, h2c: "upgrade" }));
    expect([page.final.code, page.final.httpVersion, page.body.transferredBytes]).toEqual([101, "1.1", 0]);
  });

  it("is requested in the form of RFC 7540 section 3.2, which a server can ignore", async () => {
    const server = await serve();
    const page = pageOf(await fetch({ url: `${server.url}/`, h2c: "upgrade" }));
    expect(page.final.code).toBe(200);
    const sent = new Map(server.requests[0]?.headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect([sent.get("connection"), sent.get("upgrade")]).toEqual(["Upgrade, HTTP2-Settings", "h2c"]);
    expect(Buffer.from(sent.get("http2-settings") ?? "", "base64url")).toEqual(Buffer.from([0, 2, 0, 0, 0, 0]));
  });

  it.each(["agrees_only", "other_frame", "other_protocol"] as const)(
    "is not believed of a server that %s",
    async (behaviour) => {
      const server = keep(await startH2cServer(behaviour));
      expect(failureOf(await fetch({ url: `${server.url}/`, h2c: "upgrade" }))).toBe("response/target/protocol_error");
    },
  );

  it("ends at the deadline if the server agrees and then sends nothing", async () => {
    const server = keep(await startH2cServer("silent"));
    expect(failureOf(await fetch({ url: `${server.url}/`, h2c: "upgrade" }, 500))).toBe("response/target/timeout");
  });
});

describe("a body that does not end", () => {
  it.each(["/drip-body?ms=20", "/endless-body"])("is what arrived within its time limit (%s)", async (path) => {
    const server = await serve();
    const page = pageOf(await fetch({ url: server.url + path, bodyTimeoutMs: 200, maxBodyBytes: 1e9 }));
    expect(page.final.code).toBe(200);
    expect(page.body).toMatchObject({ error: "timeout" });
    expect(page.body.bytes.length).toBeGreaterThan(0);
  });

  it("over HTTP/2 too", async () => {
    const server = await serveTls("only");
    const page = pageOf(await fetch({ url: `${server.url}/endless-body`, bodyTimeoutMs: 200, maxBodyBytes: 1e9 }));
    expect([page.final.httpVersion, page.body.error]).toEqual(["2", "timeout"]);
  });

  it("is what arrived before the connection was lost", async () => {
    const server = await serve();
    const page = pageOf(await fetch({ url: `${server.url}/reset`, bodyTimeoutMs: 60_000 }));
    expect([page.final.code, page.body.error]).toEqual([200, "reset"]);
    expect(Buffer.from(page.body.bytes).toString()).toBe("some of it");
  });

  it("is what arrived before the connection was lost, over HTTP/2 too", async () => {
    const server = await serveTls("only", (_request, response) => {
      response.writeHead(200);
      response.write("some of it", () => setTimeout(() => void server.close(), 50));
      return true;
    });
    const page = pageOf(await fetch({ url: `${server.url}/`, bodyTimeoutMs: 60_000 }));
    expect([page.final.httpVersion, page.final.code]).toEqual(["2", 200]);
    expect(page.body.error).not.toBeNull();
    expect(Buffer.from(page.body.bytes).toString()).toBe("some of it");
  });

  it("is not waited for if only the head is requested", async () => {
    const server = await serve({
      handler: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        return true;
      },
    });
    const page = pageOf(await fetch({ url: `${server.url}/`, maxBodyBytes: 0 }, 60_000));
    expect([page.final.code, page.body.error, page.body.truncated]).toEqual([200, null, false]);
    await until(() => server.open() === 0, "the connection is closed");
  });

  it("is complete if it ends in time", async () => {
    const server = await serve();
    const page = pageOf(await fetch({ url: `${server.url}/`, bodyTimeoutMs: 60_000 }));
    expect(page.body.error).toBeNull();
  });

  it("still fails at the job's own deadline", async () => {
    const server = await serve();
    const request = { url: `${server.url}/drip-body?ms=20`, bodyTimeoutMs: 60_000 };
    expect(failureOf(await fetch(request, 400))).toBe("response/target/timeout");
  });
});

describe("informational responses", () => {
  it("are listed by their codes", async () => {
    const server = await serve();
    const page = pageOf(await fetch({ url: `${server.url}/hints/3` }));
    expect(page.final.informational).toEqual([103, 103, 103]);
  });

  it("over HTTP/2 too", async () => {
    const leaf = await pki.issue({ ip: ["127.0.0.1"] });
    const server = await serve({
      tls: identityOf(leaf, pki.intermediate),
      h2: "only",
      handler: (_request, response) => {
        response.writeEarlyHints({ link: "</a.css>; rel=preload" });
        response.end("page");
        return true;
      },
    });
    expect(pageOf(await fetch({ url: `${server.url}/` })).final.informational).toEqual([103]);
  });
});
