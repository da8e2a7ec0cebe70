import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startDohFront, startDotFront } from "#test/servers/dns-encrypted.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki, type Issued, type Pki } from "#test/servers/pki.ts";
import { startTlsServer, type TlsServer } from "#test/servers/tls.ts";
import { startTlsVariant, TLS_HOST, type TlsVariant } from "#test/servers/tls-variants.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import { WIDE_LIMITS } from "#test/support/wide-plans.ts";

let plane: TestControlPlane;
let agent: AgentProcess;
let web: HttpServer;
let good: TlsServer;
let stranger: TlsServer;
let dns: DnsServer;
let pki: Pki;
let identity: { readonly leaf: Issued; readonly intermediate: Issued };
let key: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-probe-"));
  pki = await createPki();
  writeFileSync(join(folder, "root.pem"), pki.root.pem);
  const leaf = await pki.issue({ dns: ["site.example"], ip: ["127.0.0.1"] });
  identity = { leaf, intermediate: pki.intermediate };
  good = await startTlsServer({ chain: [leaf, pki.intermediate] });
  stranger = await startTlsServer({ chain: [await pki.issue({ dns: ["site.example"], issuer: null })] });
  web = await startHttpServer();
  dns = await startDnsServer({
    zones: {
      [TLS_HOST]: { A: ["127.0.0.1"] },
      "site.example": { A: ["127.0.0.1"], SOA: ["ns.site.example. h.site.example. 42 3600 600 86400 300"] },
    },
  });
  plane = await startControlPlane();
  key = await plane.createKey();
  agent = await startAgent(plane, "eu-west", {
    VANTAGE_DNS_SERVERS: dns.address,
    NODE_EXTRA_CA_CERTS: join(folder, "root.pem"),
  });
});
afterAll(async () => {
  await agent?.stop();
  await plane?.stop();
  await Promise.all([web?.close(), good?.close(), stranger?.close(), dns?.close()]);
  rmSync(folder, { recursive: true });
});

function scrape(
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const search = new URLSearchParams(query).toString();
  return plane.call(`/api/v4/probe?${search}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
}

/** Returns the series of an answer by name and labels, verbatim but without the values of the labels. */
function series(text: string): Record<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

/** Servers with which TLS fails, with the reasons that tls_connect and http_2xx report. */
const TLS_FAILURES: readonly (readonly [variant: TlsVariant, reason: string, overHttps: string])[] = [
  ["expired", "expired", "expired"],
  ["not_yet_valid", "not_yet_valid", "not_yet_valid"],
  ["self_signed", "self_signed", "self_signed"],
  ["missing_intermediate", "missing_intermediate", "missing_intermediate"],
  ["unknown_issuer", "untrusted_root", "untrusted_root"],
  ["untrusted_root", "untrusted_root", "untrusted_root"],
  ["wrong_host", "hostname_mismatch", "hostname_mismatch"],
  ["alert_handshake_failure", "handshake_failure", "handshake_failure"],
  ["alert_unrecognized_name", "unrecognized_name", "unrecognized_name"],
  ["alert_protocol_version", "protocol_version", "protocol_version"],
  ["client_certificate_tls12", "handshake_failure", "handshake_failure"],
  ["plain_text", "plain_text", "not_tls"],
  ["closing", "closed", "closed"],
  ["reset", "reset", "reset"],
];

describe("a scrape", () => {
  it("is 200 in the text format, from the requested region", async () => {
    const answer = await scrape({ target: `${web.url}/status/200`, module: "http_2xx", region: "eu-west" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(series(answer.text)).toMatchObject({ probe_success: 1, probe_http_status_code: 200, probe_ip_protocol: 4 });
    expect(answer.text).toMatch(/vantage_probe_info\{region="eu-west",probe_id="[^"]+",country="",asn=""\} 1/);
  });

  it("accepts the key in X-API-Key too, counts the call, and is refused without a key", async () => {
    const path = `/api/v4/probe?target=${encodeURIComponent(web.url)}`;
    const answer = await plane.call(path, { key });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-ratelimit-limit")).toBe(String(WIDE_LIMITS.requestsPerMinute));
    const refused = await plane.call(path);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
  });

  it.each([
    ["/status/500", { probe_success: 0, probe_http_status_code: 500 }],
    ["/status/204", { probe_success: 1, probe_http_status_code: 204 }],
  ])("returns for %s what the exporter returns", async (path, expected) => {
    expect(series((await scrape({ target: `${web.url}${path}` })).text)).toMatchObject(expected);
  });

  it("is 200 with zeroed families and the cause if the target fails", async () => {
    const gone = await startHttpServer();
    await gone.close();
    const answer = await scrape({ target: gone.url });
    expect(answer.status).toBe(200);
    expect(series(answer.text)).toMatchObject({
      probe_success: 0,
      probe_http_status_code: 0,
      probe_http_version: 0,
      'probe_http_duration_seconds{phase="connect"}': 0,
      'vantage_probe_failure_info{stage="connect",source="target",reason="refused"}': 1,
    });
  });

  it.each(TLS_FAILURES)(
    "reports why TLS failed: %s is %s, over https and by tls_connect",
    async (variant, reason, expectedOverHttps = reason) => {
      const answerRequest = (socket: Duplex) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
      const server = await startTlsVariant(variant, pki, { onConnection: answerRequest });
      const where = `${TLS_HOST}:${server.port}`;
      const overHttps = await scrape({ module: "http_2xx", target: `https://${where}/` });
      const connected = await scrape({ module: "tls_connect", target: where });
      await server.close();
      for (const [{ status, text }, expected] of [
        [overHttps, expectedOverHttps],
        [connected, reason],
      ] as const) {
        expect(status).toBe(200);
        expect(series(text)).toMatchObject({
          probe_success: 0,
          [`vantage_probe_failure_info{stage="tls",source="target",reason="${expected}"}`]: 1,
        });
      }
    },
  );

  it("reports why any other probe failed", async () => {
    const refused = await scrape({ module: "tcp_connect", target: "127.0.0.1:1" });
    expect(refused.text).toContain('vantage_probe_failure_info{stage="connect",source="target",reason="refused"} 1');
    const missing = await scrape({ target: `${web.url}/status/404` });
    expect(missing.text).toContain('{stage="response",source="target",reason="http_status"} 1');
    const fine = await scrape({ target: `${web.url}/status/200` });
    expect(fine.text).not.toContain("vantage_probe_failure_info");
  });

  it("times out before Prometheus does and reports a failure of the target", async () => {
    const headers = { "x-prometheus-scrape-timeout-seconds": "1" };
    const answer = await scrape({ target: `${web.url}/silent` }, headers);
    expect(answer.status).toBe(200);
    expect(series(answer.text)).toMatchObject({ probe_success: 0 });
    expect(answer.text).toContain('reason="scrape_timeout"');
  });

  it("runs the probes that tcp_connect, tls_connect and dns_* name", async () => {
    const port = new URL(web.url).port;
    expect(series((await scrape({ target: `127.0.0.1:${port}`, module: "tcp_connect" })).text)).toMatchObject({
      probe_success: 1,
      probe_failed_due_to_regex: 0,
    });
    expect(series((await scrape({ target: "127.0.0.1:1", module: "tcp_connect" })).text)).toMatchObject({
      probe_success: 0,
    });
    const tls = series((await scrape({ target: `127.0.0.1:${good.port}`, module: "tls_connect" })).text);
    expect(tls).toMatchObject({ probe_success: 1, 'probe_tls_version_info{version="TLS 1.3"}': 1 });
    expect(tls["probe_ssl_earliest_cert_expiry"]).toBeGreaterThan(1_700_000_000);
    const bad = await scrape({ target: `127.0.0.1:${stranger.port}`, module: "tls_connect" });
    expect(series(bad.text)).toMatchObject({ probe_success: 0 });
    expect(bad.text).not.toContain("probe_ssl");
    for (const module of ["dns_udp", "dns_tcp"]) {
      const query = { target: dns.address, module, query_name: "site.example", query_type: "SOA" };
      expect(series((await scrape(query)).text)).toMatchObject({
        probe_success: 1,
        probe_dns_query_succeeded: 1,
        probe_dns_answer_rrs: 1,
        probe_dns_serial: 42,
        probe_ip_protocol: 4,
      });
    }
    const missing = { target: dns.address, module: "dns_udp", query_name: "no.example" };
    expect(series((await scrape(missing)).text)).toMatchObject({ probe_success: 0, probe_dns_query_succeeded: 0 });
  });

  it("queries encrypted services with dns_dot and dns_doh, whose certificate must be valid", async () => {
    const dot = await startDotFront(dns.port, { certificate: identity.leaf, chain: [identity.intermediate] });
    const doh = await startDohFront(dns.port, { certificate: identity.leaf, chain: [identity.intermediate] });
    const query = { query_name: "site.example", query_type: "A" };
    const asked = [
      await scrape({ ...query, module: "dns_dot", target: `127.0.0.1:${dot.port}` }),
      await scrape({ ...query, module: "dns_doh", target: `https://127.0.0.1:${doh.port}/dns-query` }),
    ];
    for (const { text } of asked) {
      expect(series(text)).toMatchObject({ probe_success: 1, probe_dns_answer_rrs: 1, probe_ip_protocol: 4 });
      expect(series(text)['probe_dns_duration_seconds{phase="connect"}']).toBeGreaterThan(0);
    }
    const other = await scrape({ ...query, module: "dns_dot", target: `127.0.0.1:${stranger.port}` });
    expect(series(other.text)).toMatchObject({ probe_success: 0 });
    await Promise.all([dot.close(), doh.close()]);
  });

  it.each([
    [{ module: "http_2xx" }, "target", "required"],
    [{ target: "x", module: "no_such" }, "module", "enum"],
    [{ target: "example.com", module: "tcp_connect" }, "target", "type"],
    [{ target: "http://user@example.com/" }, "target", "invalid_url"],
    [{ target: "127.0.0.1", module: "dns_udp" }, "query_name", "required"],
    [{ target: "127.0.0.1", module: "dns_udp", query_name: "a.example", query_type: "NOPE" }, "query_type", "enum"],
    [{ target: "http://127.0.0.1/", region: "mars" }, "region", "unknown_location"],
  ])("with %j is 400, because the scrape configuration is wrong", async (query, field, reason) => {
    const answer = await scrape(query);
    expect({ status: answer.status, ...(answer.body.error as object) }).toMatchObject({ status: 400, field, reason });
  });

  it.each([
    "http://dns.example/dns-query",
    "https://user@dns.example/dns-query",
    "https://user:secret@dns.example/dns-query",
    "https:\\\\dns.example\\dns-query",
    "https://dns.example/\tdns-query",
    "https:dns.example/dns-query",
    "https://dns..example/dns-query",
  ])("dns_doh refuses a URL that other surfaces refuse: %s", async (target) => {
    const answer = await scrape({ module: "dns_doh", target, query_name: "a.example" });
    expect({ status: answer.status, ...(answer.body.error as object) }).toMatchObject({
      status: 400,
      field: "target",
      reason: "invalid_url",
    });
  });

  it("is refused for a target that must not be reached, also for the name server of a dns module", async () => {
    const refused = { status: 400, code: "target_not_allowed" };
    for (const query of [
      { target: "http://169.254.169.254/" },
      { target: "10.0.0.1:53", module: "dns_udp", query_name: "site.example" },
      { target: "localhost.internal:53", module: "dns_udp", query_name: "site.example" },
      { target: "https://169.254.169.254/dns-query", module: "dns_doh", query_name: "site.example" },
      { target: "https://dns.example.org:25/dns-query", module: "dns_doh", query_name: "site.example" },
      { target: "https://127.0.0.1:25/dns-query", module: "dns_doh", query_name: "site.example" },
    ]) {
      const answer = await scrape(query);
      expect({ status: answer.status, code: (answer.body.error as { code: string }).code }).toEqual(refused);
    }
  });

  it("of a region without a probe is 503, so that `up` distinguishes our failure from the target's", async () => {
    const other = await startAgent(plane, "us-east");
    await other.stop();
    const answer = await scrape({ target: web.url, region: "us-east" });
    expect(answer.status).toBe(503);
  });
});
