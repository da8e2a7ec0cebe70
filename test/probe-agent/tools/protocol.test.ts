import { createServer } from "node:http";
import { createServer as createTls } from "node:tls";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol as contract } from "#shared/tools/protocol.ts";
import { protocol } from "#probe-agent/tools/protocol.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { startH2cServer } from "#test/servers/h2c.ts";
import { startHttpServer, type HttpServer, type HttpServerOptions } from "#test/servers/http.ts";
import { createPki, type Pki } from "#test/servers/pki.ts";
import { startQuicServer, type QuicServer } from "#test/servers/quic.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { closedPort } from "#test/support/health.ts";
import { failureOf, identityOf } from "#test/support/http-engine.ts";
import { resultOf, runTool, type ToolSetting } from "#test/support/tool.ts";

type Result = ResultOf<typeof contract>;

let pki: Pki;
let identity: { cert: string; key: string };
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  pki = await createPki();
  const leaf = await pki.issue({ ip: ["127.0.0.1"], dns: ["site.test", "alt.test"] });
  identity = identityOf(leaf, pki.intermediate);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

function keep<S extends { close(): Promise<void> }>(server: S): S {
  open.push(server);
  return server;
}

async function serve(
  options: HttpServerOptions = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpServer> {
  const handler: HttpServerOptions["handler"] = (_request, response) => {
    response.writeHead(200, headers).end("page");
    return true;
  };
  return keep(await startHttpServer({ handler, ...options }));
}

async function serveTls(h2: HttpServerOptions["h2"], headers?: Readonly<Record<string, string>>): Promise<HttpServer> {
  return serve({ tls: identity, ...(h2 === undefined ? {} : { h2 }) }, headers);
}

/** A QUIC server at the UDP port of a given number, so that the origin's own port can be one. */
async function quicAt(port: number, behaviour: "honest" | "silent" = "honest"): Promise<QuicServer> {
  return keep(await startQuicServer({ port, behaviour }));
}

async function dnsOf(zones: NonNullable<DnsServerOptions["zones"]>, more: DnsServerOptions = {}): Promise<DnsServer> {
  return keep(await startDnsServer({ zones, ...more }));
}

const run = (url: string, setting: ToolSetting = {}): Promise<Result> =>
  resultOf(protocol, { url }, { roots: [pki.root.pem], ...setting });

function attemptsOf({ attempts }: Result): Record<string, string> {
  return Object.fromEntries(attempts.map(({ name, code, reason }) => [name, reason ?? String(code)]));
}

describe("protocol over TLS", () => {
  it("sees all versions of a server that has them", async () => {
    const server = await serveTls(true);
    const result = await run(`${server.url}/`);
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

  it("sees HTTP/1.1 alone, with ALPN and without", async () => {
    const server = await serveTls(false);
    const result = await run(`${server.url}/`);
    expect(result).toMatchObject({ negotiated: "http/1.1", alpn_selected: "http/1.1", h2: false, http1_1: true });
    expect(attemptsOf(result)["h2"]).toBe("no_application_protocol");

    const http = createServer((_request, response) => void response.end("x"));
    const bare = createTls(identity, (socket) => http.emit("connection", socket)).listen(0, "127.0.0.1");
    await new Promise((resolve) => bare.once("listening", resolve));
    const plain = await run(`https://127.0.0.1:${(bare.address() as AddressInfo).port}/`);
    bare.close();
    expect(plain).toMatchObject({
      negotiated: "http/1.1",
      alpn_selected: null,
      h2: false,
      http1_1: true,
      without_alpn: "http/1.1",
    });
  });

  it("sees a server that speaks nothing but HTTP/2", async () => {
    const server = await serveTls("only");
    const result = await run(`${server.url}/`);
    expect(result).toMatchObject({ negotiated: "h2", h2: true, http1_1: false, http1_0: false, without_alpn: null });
    expect(attemptsOf(result)["http/1.1"]).toBe("no_application_protocol");
  });

  it("goes by HTTP/1.1 where HTTP/2 is agreed on and not spoken", async () => {
    const liar = createTls({ ...identity, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => liar.once("listening", resolve));
    const result = await run(`https://127.0.0.1:${(liar.address() as AddressInfo).port}/`);
    liar.close();
    expect(result).toMatchObject({ negotiated: "http/1.1", alpn_offered: ["http/1.1"], h2: false, http1_1: true });
    expect(result.limitations[0]).toContain("did not work");
  });

  it("tells of a bad certificate and goes on", async () => {
    const server = await serveTls(true);
    const result = await run(`${server.url}/`, { roots: [] });
    expect(result.tls).toMatchObject({ authorized: false });
    expect(result.h2).toBe(true);
  });

  it("shows old versions of TLS", async () => {
    const server = await serve({ tls: { ...identity, minVersion: "TLSv1", maxVersion: "TLSv1.2" } });
    expect((await run(`${server.url}/`)).tls).toMatchObject({
      versions: { ssl3: false, tls1_0: true, tls1_1: true, tls1_2: true, tls1_3: false },
      protocol: "TLSv1.2",
    });
  });
});

describe("protocol without TLS", () => {
  it("sees HTTP/1.1 and asks nothing over UDP", async () => {
    const server = await serve();
    const result = await run(`${server.url}/`);
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
    expect(result.limitations).toEqual(["HTTP/3 is for https, and none is advertised: nothing was asked over UDP."]);
  });

  it("sees HTTP/2 by Upgrade", async () => {
    const server = keep(await startH2cServer("upgrade"));
    expect(await run(`${server.url}/`)).toMatchObject({ negotiated: "http/1.1", h2: true, h2c_upgrade: true });
  });

  it("does not believe a server that only says it upgrades", async () => {
    const server = keep(await startH2cServer("agrees_only"));
    expect(await run(`${server.url}/`)).toMatchObject({ h2: false, h2c_upgrade: false });
  });

  it("sees a server that speaks HTTP/2 from the first octet and nothing else", async () => {
    const server = keep(await startH2cServer("prior_knowledge"));
    const result = await run(`${server.url}/`);
    expect(result).toMatchObject({ negotiated: "h2", h2: true, http1_1: false, h2c_prior_knowledge: true, code: 200 });
  });

  it("sees a server that has HTTP/1.0 alone", async () => {
    const wire = keep(await startWireServer("HTTP/1.0 200 OK\r\n\r\nold"));
    const result = await run(`http://127.0.0.1:${wire.port}/`);
    expect(result).toMatchObject({ negotiated: "http/1.0", http1_0: true, http1_1: false, h2: false });
  });

  it("sees a server that refuses HTTP/1.0", async () => {
    const wire = keep(
      await startWireServer((socket, received) => {
        const isOld = /^GET \S+ HTTP\/1\.0/.test(received);
        socket.end(`HTTP/1.1 ${isOld ? "426 Upgrade Required" : "200 OK"}\r\nContent-Length: 0\r\n\r\n`);
      }),
    );
    expect(await run(`http://127.0.0.1:${wire.port}/`)).toMatchObject({ http1_0: false, http1_1: true });
  });

  it("leaves open what a server that is asked too much does not tell", async () => {
    let count = 0;
    const wire = keep(
      await startWireServer((socket) => {
        count += 1;
        socket.end(`HTTP/1.1 ${count === 1 ? "200 OK" : "429 Too Many Requests"}\r\nContent-Length: 0\r\n\r\n`);
      }),
    );
    const result = await run(`http://127.0.0.1:${wire.port}/`);
    expect(result).toMatchObject({ http1_0: null, http1_1: true });
    expect(result.limitations.join()).toContain("Whether HTTP/1.0 is answered could not be told");
  });
});

describe("HTTP/3", () => {
  it("is seen by Alt-Svc and by the QUIC server at the port it names", async () => {
    const quic = keep(await startQuicServer());
    const server = await serveTls(true, { "alt-svc": `h3=":${quic.port}"; ma=3600, h3-29="alt.test:443"; persist=1` });
    const result = await run(`${server.url}/`);
    expect(result.alt_svc).toEqual([
      { alpn: "h3", host: "127.0.0.1", port: quic.port, max_age_s: 3600, persist: false },
      { alpn: "h3-29", host: "alt.test", port: 443, max_age_s: 86_400, persist: true },
    ]);
    expect(result.h3).toMatchObject({
      advertised_alt_svc: true,
      advertised_https_rr: false,
      quic_reachable: true,
      quic_versions: ["0x00000001", "0x6b3343cf"],
      quic_version_names: ["QUIC version 1 (RFC 9000)", "QUIC version 2 (RFC 9369)"],
    });
    expect(result.h3.probes[0]).toMatchObject({ source: "alt_svc", ip: "127.0.0.1", port: quic.port, reachable: true });
    expect(result.h3.probes[0]?.rtt_ms).toBeGreaterThan(0);
    expect(result.h3.probes[1]).toMatchObject({ host: "alt.test", ip: null, reachable: "unknown" });
  });

  it("is asked for at the origin's own port where nothing is advertised", async () => {
    const server = await serveTls(true);
    await quicAt(server.port);
    const result = await run(`${server.url}/`);
    expect(result.h3).toMatchObject({ advertised_alt_svc: false, quic_reachable: true });
    expect(result.h3.probes[0]).toMatchObject({ source: "origin", port: server.port });
  });

  it("is not there where the port is closed, whatever is advertised", async () => {
    const server = await serveTls(true, { "alt-svc": `h3=":${await closedPort()}"` });
    expect((await run(`${server.url}/`)).h3).toMatchObject({ advertised_alt_svc: true, quic_reachable: false });
  });

  it("is unknown where the port is silent", async () => {
    const server = await serveTls(true);
    await quicAt(server.port, "silent");
    const result = await run(`${server.url}/`);
    expect(result.h3).toMatchObject({ quic_reachable: "unknown", quic_versions: [] });
    expect(result.limitations.join()).toContain("No answer over UDP");
  });

  it("is withdrawn by clear", async () => {
    const server = await serveTls(true, { "alt-svc": 'clear, h3=":443"' });
    expect(await run(`${server.url}/`)).toMatchObject({
      alt_svc: [],
      alt_svc_clear: true,
      h3: { advertised_alt_svc: false },
    });
  });

  it("is not looked for at addresses or ports that are not allowed", async () => {
    const server = await serveTls(true, { "alt-svc": 'h3="10.0.0.1:443", h3=":25", h3="inside.internal:443"' });
    const { h3 } = await run(`${server.url}/`);
    expect(h3.probes.map(({ ip, reachable, reason }) => [ip, reachable, reason])).toEqual([
      [null, "unknown", "target_not_allowed"],
      [null, "unknown", "blocked_port"],
      [null, "unknown", "target_not_allowed"],
    ]);
    expect(h3.quic_reachable).toBe("unknown");
  });

  it("asks at most three places", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `h3=":${40_000 + index}"`).join(", ");
    const server = await serveTls(true, { "alt-svc": many });
    const result = await run(`${server.url}/`);
    expect(result.h3.probes).toHaveLength(3);
    expect(result.alt_svc.length).toBeLessThanOrEqual(50);
  });
});

describe("HTTPS records", () => {
  it("of another port than 443 stand under _port._https, and lead to where HTTP/3 is", async () => {
    const quic = keep(await startQuicServer());
    const server = await serveTls(true);
    const name = `_${server.port}._https.site.test`;
    const dns = await dnsOf({
      "site.test": { A: ["127.0.0.1"] },
      "alt.test": { A: ["127.0.0.1"] },
      [name]: { HTTPS: [`2 . alpn="h2"`, `1 alt.test. alpn="h3,h2" port=${quic.port} ech=AAEC ipv4hint=127.0.0.1`] },
    });
    const result = await run(`https://site.test:${server.port}/`, { dnsServers: [dns.address] });
    expect(result.https_rr).toEqual({
      name,
      status: "NOERROR",
      aliases: [],
      records: [
        {
          priority: 1,
          target: "alt.test",
          alpn: ["h3", "h2", "http/1.1"],
          port: quic.port,
          ech: true,
          ipv4hint: ["127.0.0.1"],
          ipv6hint: [],
          compatible: true,
        },
        {
          priority: 2,
          target: name,
          alpn: ["h2", "http/1.1"],
          port: null,
          ech: false,
          ipv4hint: [],
          ipv6hint: [],
          compatible: true,
        },
      ],
    });
    expect(result).toMatchObject({ ech: true, h3: { advertised_https_rr: true, quic_reachable: true } });
    expect(result.h3.probes[0]).toMatchObject({ source: "https_rr", host: "alt.test", port: quic.port });
  });

  it("in AliasMode are followed (RFC 9460 section 2.4.2)", async () => {
    const server = await serveTls(true);
    const dns = await dnsOf({
      "site.test": { A: ["127.0.0.1"] },
      [`_${server.port}._https.site.test`]: { HTTPS: ["0 pool.test."] },
      "pool.test": { HTTPS: ["0 alt.test."] },
      "alt.test": { HTTPS: ['1 . alpn="h2"'], A: ["127.0.0.1"] },
    });
    const result = await run(`https://site.test:${server.port}/`, { dnsServers: [dns.address] });
    expect(result.https_rr).toMatchObject({ aliases: ["pool.test", "alt.test"], records: [{ target: "alt.test" }] });
  });

  it("that lead in a circle, or nowhere, are said to", async () => {
    const server = await serveTls(true);
    const name = `_${server.port}._https.site.test`;
    const site = { "site.test": { A: ["127.0.0.1"] } };
    const circle = await dnsOf({ ...site, [name]: { HTTPS: ["0 a.test."] }, "a.test": { HTTPS: [`0 ${name}.`] } });
    const result = await run(`https://site.test:${server.port}/`, { dnsServers: [circle.address] });
    expect(result.limitations).toContain("HTTPS records lead in a circle.");
    const nowhere = await dnsOf({ ...site, [name]: { HTTPS: ["0 ."] } });
    const none = await run(`https://site.test:${server.port}/`, { dnsServers: [nowhere.address] });
    expect(none.limitations).toContain("An HTTPS record says that the service does not exist.");
  });

  it("that cannot be had leave it open whether there is ECH", async () => {
    const server = await serveTls(true);
    const dns = await dnsOf(
      { "site.test": { A: ["127.0.0.1"] } },
      { behaviours: { [`_${server.port}._https.site.test`]: { status: "SERVFAIL" } } },
    );
    const result = await run(`https://site.test:${server.port}/`, { dnsServers: [dns.address] });
    expect(result).toMatchObject({ ech: null, https_rr: { status: "SERVFAIL", records: [] } });
    expect(result.limitations.join()).toContain("could not be looked up");
  });
});

describe("a server that cannot be asked", () => {
  it.each([
    ["/silent", "response/target/timeout"],
    ["/reset-early", "response/target/reset"],
    ["/endless-headers", "response/target/headers_overflow"],
    ["/hints/forever", "response/target/informational_flood"],
    ["/wire?bytes=junk", "response/target/not_http"],
  ])("%s ends as %s", async (path, expected) => {
    const server = keep(await startHttpServer());
    const { outcome } = await runTool(protocol, { url: server.url + path }, { timeoutMs: 1500 });
    expect(failureOf(outcome)).toBe(expected);
  });

  it("fails where nothing listens, and is refused where it may not go", async () => {
    const { outcome } = await runTool(protocol, { url: `https://127.0.0.1:${await closedPort()}/` });
    expect(failureOf(outcome)).toBe("connect/target/refused");
    expect((await runTool(protocol, { url: "https://10.0.0.1/" })).outcome.status).toBe("refused");
  });

  it("whose body never ends is asked in time", async () => {
    const server = keep(await startHttpServer());
    expect(await run(`${server.url}/drip-body?ms=100`)).toMatchObject({ code: 200, http1_1: true });
  });
});
