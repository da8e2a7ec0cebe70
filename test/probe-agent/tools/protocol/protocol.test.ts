import { createServer } from "node:http";
import { createServer as createTls, type Server } from "node:tls";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { startH2cServer } from "#test/servers/h2c.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { createProtocolBench, type ProtocolResult } from "#test/support/protocol.ts";

const bench = await createProtocolBench();
afterEach(() => bench.release());

/** Runs the tool on a server that then ends. */
async function runRaw(server: Server): Promise<ProtocolResult> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const result = await bench.run(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.close();
  return result;
}

function attemptsOf({ attempts }: ProtocolResult): Record<string, string> {
  return Object.fromEntries(attempts.map(({ name, code, reason }) => [name, reason ?? String(code)]));
}

describe("protocol over TLS", () => {
  it("reports all versions of a server that supports them", async () => {
    const server = await bench.serveTls(true);
    const result = await bench.run(`${server.url}/`);
    expect(result).toMatchObject({
      host: "127.0.0.1",
      port: server.port,
      ip: "127.0.0.1",
      code: 200,
      negotiated: "h2",
      alpn_offered: ["h2", "http/1.1"],
      alpn_selected: "h2",
      http1_0: true,
      http1_1: true,
      h2: true,
      h2c_upgrade: null,
      h2c_prior_knowledge: null,
      without_alpn: "http/1.1",
      https_rr: null,
      ech: false,
      alt_svc: [],
      alt_svc_clear: false,
    });
    expect(result.tls).toMatchObject({
      versions: { ssl3: false, tls1_0: false, tls1_1: false, tls1_2: true, tls1_3: true },
      protocol: "TLSv1.3",
      authorized: true,
      error: null,
    });
    expect(result.tls?.group).toMatch(/25519|256/);
    expect(result.tls?.cipher).toMatch(/^TLS_/);
    expect(attemptsOf(result)).toEqual({ default: "200", "http/1.1": "200", no_alpn: "200", "http/1.0": "200" });
  });

  it("reports only HTTP/1.1, with and without ALPN", async () => {
    const server = await bench.serveTls(false);
    const result = await bench.run(`${server.url}/`);
    expect(result).toMatchObject({ negotiated: "http/1.1", alpn_selected: "http/1.1", h2: false, http1_1: true });
    expect(attemptsOf(result)["h2"]).toBe("no_application_protocol");

    const http = createServer((_request, response) => void response.end("x"));
    const plain = await runRaw(createTls(bench.identity, (socket) => http.emit("connection", socket)));
    expect(plain).toMatchObject({
      negotiated: "http/1.1",
      alpn_selected: null,
      h2: false,
      http1_1: true,
      without_alpn: "http/1.1",
    });
  });

  it("reports a server that supports only HTTP/2", async () => {
    const server = await bench.serveTls("only");
    const result = await bench.run(`${server.url}/`);
    expect(result).toMatchObject({ negotiated: "h2", h2: true, http1_1: false, http1_0: false, without_alpn: null });
    expect(attemptsOf(result)["http/1.1"]).toBe("no_application_protocol");
  });

  it("uses HTTP/1.1 if HTTP/2 is negotiated but fails", async () => {
    const liar = createTls({ ...bench.identity, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
    });
    const result = await runRaw(liar);
    expect(result).toMatchObject({ negotiated: "http/1.1", alpn_offered: ["http/1.1"], h2: false, http1_1: true });
    expect(result.limitations[0]).toContain("The request with a browser's ALPN failed");
  });

  it("reports an untrusted certificate and continues", async () => {
    const server = await bench.serveTls(true);
    const result = await bench.run(`${server.url}/`, { roots: [] });
    expect(result.tls).toMatchObject({ authorized: false });
    expect(result.h2).toBe(true);
  });

  it("reports old versions of TLS", async () => {
    const server = await bench.serve({ tls: { ...bench.identity, minVersion: "TLSv1", maxVersion: "TLSv1.2" } });
    expect((await bench.run(`${server.url}/`)).tls).toMatchObject({
      versions: { ssl3: false, tls1_0: true, tls1_1: true, tls1_2: true, tls1_3: false },
      protocol: "TLSv1.2",
    });
  });
});

describe("protocol without TLS", () => {
  it("reports HTTP/1.1 and sends nothing over UDP", async () => {
    const server = await bench.serve();
    const result = await bench.run(`${server.url}/`);
    expect(result).toMatchObject({
      negotiated: "http/1.1",
      alpn_offered: [],
      alpn_selected: null,
      http1_0: true,
      http1_1: true,
      h2: false,
      h2c_upgrade: false,
      h2c_prior_knowledge: false,
      without_alpn: null,
      tls: null,
      h3: { quic_reachable: "unknown", probes: [] },
    });
    expect(result.limitations).toEqual([
      "HTTP/3 was not checked over UDP: it requires https, and no response or record advertises it.",
    ]);
  });

  it("reports HTTP/2 by Upgrade", async () => {
    const server = bench.keep(await startH2cServer("upgrade"));
    expect(await bench.run(`${server.url}/`)).toMatchObject({ negotiated: "http/1.1", h2: true, h2c_upgrade: true });
  });

  it("does not report HTTP/2 if the server announces the upgrade but does not perform it", async () => {
    const server = bench.keep(await startH2cServer("agrees_only"));
    expect(await bench.run(`${server.url}/`)).toMatchObject({ h2: false, h2c_upgrade: false });
  });

  it("reports a server that supports only HTTP/2 with prior knowledge", async () => {
    const server = bench.keep(await startH2cServer("prior_knowledge"));
    const result = await bench.run(`${server.url}/`);
    expect(result).toMatchObject({ negotiated: "h2", h2: true, http1_1: false, h2c_prior_knowledge: true, code: 200 });
  });

  it("reports a server that supports only HTTP/1.0", async () => {
    const wire = bench.keep(await startWireServer("HTTP/1.0 200 OK\r\n\r\nold"));
    const result = await bench.run(`http://127.0.0.1:${wire.port}/`);
    expect(result).toMatchObject({ negotiated: "http/1.0", http1_0: true, http1_1: false, h2: false });
  });

  it("reports a server that refuses HTTP/1.0", async () => {
    const wire = bench.keep(
      await startWireServer((socket, received) => {
        const isOld = /^GET \S+ HTTP\/1\.0/.test(received);
        socket.end(`HTTP/1.1 ${isOld ? "426 Upgrade Required" : "200 OK"}\r\nContent-Length: 0\r\n\r\n`);
      }),
    );
    expect(await bench.run(`http://127.0.0.1:${wire.port}/`)).toMatchObject({ http1_0: false, http1_1: true });
  });

  it("reports null if a server limits requests", async () => {
    let count = 0;
    const wire = bench.keep(
      await startWireServer((socket) => {
        count += 1;
        socket.end(`HTTP/1.1 ${count === 1 ? "200 OK" : "429 Too Many Requests"}\r\nContent-Length: 0\r\n\r\n`);
      }),
    );
    const result = await bench.run(`http://127.0.0.1:${wire.port}/`);
    expect(result).toMatchObject({ http1_0: null, http1_1: true });
    expect(result.limitations.join()).toContain("Whether the server answers HTTP/1.0 could not be determined");
  });
});

describe("a difficult server", () => {
  it("has an endless body, and the tool finishes in time", async () => {
    const server = bench.keep(await startHttpServer());
    expect(await bench.run(`${server.url}/drip-body?ms=100`)).toMatchObject({ code: 200, http1_1: true });
  });
});
