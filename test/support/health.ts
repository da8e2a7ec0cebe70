import { brotliCompressSync } from "node:zlib";
import { Compile } from "typebox/compile";
import { expect } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { health as contract } from "#shared/tools/health/contract.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import { createTcp } from "#probe-agent/net/tcp.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { healthOn, type WebPorts } from "#probe-agent/tools/health/health.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type Handler, type HttpServer, type HttpServerOptions } from "#test/servers/http.ts";
import { createPki, daysFromNow, type Pki } from "#test/servers/pki.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { identityOf, TEST_AGENT } from "#test/support/http-engine.ts";
import { builtInData } from "#test/support/tool.ts";
import { freePort } from "#test/support/free-port.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";

/** Result of the health tool. */
export type HealthResult = ResultOf<typeof contract>;

/** Name that resolves to the loopback addresses of both families; "four.test" has no AAAA record. */
export const HOST = "site.test";

/** The only host of the preload list. */
const PRELOADED = "preloaded.test";
const preloaded = (host: string) => (host === PRELOADED ? { include_subdomains: true } : null);

const schema = Compile(contract.result);
const PAGE =
  '<!doctype html><html lang=en><meta charset=utf-8><title>Site</title><meta name=description content="A site">' +
  `<meta name=viewport content="width=device-width">${"<p>text</p>".repeat(300)}`;
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "permissions-policy": "camera=()",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
  etag: '"1"',
};

/** Answers as a well-configured site: brotli, all headers, both well-known files. */
export const careful: Handler = (_request, response, { path }) => {
  const expires = daysFromNow(100).toISOString();
  if (path === "/") response.writeHead(200, { ...HEADERS, "content-encoding": "br" }).end(brotliCompressSync(PAGE));
  else if (path === "/robots.txt") response.writeHead(200, { "content-type": "text/plain" }).end("User-agent: *\n");
  else if (path === "/.well-known/security.txt") {
    response.writeHead(200, { "content-type": "text/plain" }).end(`Contact: tel:+1\nExpires: ${expires}\n`);
  } else return false;
  return true;
};

/** The health tool over real ports, with test servers. */
export interface HealthBench {
  readonly pki: Pki;
  /** Ports without a listener. */
  readonly closed: WebPorts;
  serve(options: HttpServerOptions): Promise<HttpServer>;
  /** Serves over TLS with HTTP/2. Default: a certificate for HOST by the trusted root. */
  serveTls(
    handler: Handler,
    issue?: Parameters<Pki["issue"]>[0],
    more?: Partial<HttpServerOptions>,
  ): Promise<HttpServer>;
  /** Runs the tool. Default: closed ports and a deadline of 20 s. */
  run(url: string, ports?: WebPorts, timeoutMs?: number): Promise<Outcome<HealthResult>>;
  /** Runs the tool, and asserts that the result matches its contract and its sums are correct. */
  resultOf(url: string, ports?: WebPorts, timeoutMs?: number): Promise<HealthResult>;
  close(): Promise<void>;
}

/** Creates a bench. Its servers end with it. */
export async function createHealthBench(): Promise<HealthBench> {
  const pki = await createPki();
  const zones = {
    [HOST]: { A: ["127.0.0.1"], AAAA: ["::1"] },
    "four.test": { A: ["127.0.0.1"] },
    [PRELOADED]: { A: ["127.0.0.1"] },
  };
  const dns = await startDnsServer({ zones });
  const closed = { http: await freePort(), https: await freePort() };
  const open: HttpServer[] = [];

  async function serve(options: HttpServerOptions): Promise<HttpServer> {
    const server = await startHttpServer(options);
    open.push(server);
    return server;
  }

  async function run(url: string, ports: WebPorts = closed, timeoutMs = 20_000): Promise<Outcome<HealthResult>> {
    const limits = jobLimits(timeoutMs, AbortSignal.timeout(timeoutMs));
    const resolver = dnsPort([dns.address], { limits });
    const shared = { clock: systemClock, egress: loopbackEgress };
    const http = createHttp({ ...shared, userAgent: TEST_AGENT, roots: [pki.root.pem] })(limits, resolver);
    const tls = createTls({ ...shared, random: systemRandom, roots: [pki.root.pem] })(limits);
    const tcp = createTcp(shared)(limits);
    const data = { ...builtInData(), hstsPreload: preloaded };
    const net = netOf({ dns: resolver, http, tls, tcp, data }, limits);
    return await healthOn(ports).run(net, { url });
  }

  return {
    pki,
    closed,
    serve,
    run,
    async serveTls(handler, issue = {}, more = {}) {
      const leaf = await pki.issue({ dns: [HOST], ...issue });
      const tls = { ...identityOf(leaf, pki.intermediate), ciphers: "ECDHE+AESGCM:ECDHE+CHACHA20:@SECLEVEL=0" };
      return await serve({ tls, h2: true, handler, ...more });
    },
    async resultOf(...given) {
      const outcome = await run(...given);
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      expect([...schema.Errors(outcome.data)]).toEqual([]);
      expect(JSON.parse(JSON.stringify(outcome.data))).toEqual(outcome.data);
      expect(outcome.data.categories.reduce((sum, { score }) => sum + score, 0)).toBe(outcome.data.score);
      return outcome.data;
    },
    async close() {
      await Promise.all([dns.close(), ...open.map((server) => server.close())]);
    },
  };
}

/** Returns "score/max status" of checks by id. */
export function checksOf({ categories }: HealthResult, ...ids: readonly string[]): Record<string, string> {
  const checks = categories.flatMap((category) => category.checks);
  return Object.fromEntries(
    ids.map((id) => {
      const found = checks.find((check) => check.id === id);
      return [id, `${found?.score}/${found?.max} ${found?.status}`];
    }),
  );
}
