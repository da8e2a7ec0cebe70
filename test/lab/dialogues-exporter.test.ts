import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { monitorGrpc } from "#probe-agent/monitor-checks/monitor-grpc.ts";
import { monitorTcp } from "#probe-agent/monitor-checks/monitor-tcp.ts";
import { startExporter, whyNoExporter, type Exporter } from "#test/lab/exporter.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startGrpcServer } from "#test/servers/grpc-health.ts";
import { createPki, daysFromNow, type Issued } from "#test/servers/pki.ts";
import { startTalker, type Reaction } from "#test/servers/talker.ts";
import { freePort } from "#test/support/free-port.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { runMonitor } from "#test/support/monitor-check.ts";

// Debian's prometheus-blackbox-exporter and the checks of tcp and grpc monitors judge the same servers.
const missing = whyNoExporter();
if (missing !== null) console.warn(`dialogues-exporter.test.ts ${missing}`);

const HOST = "srv.example.net";
const SERVER_NAME = { tls_config: { server_name: HOST } };
/** Modules of the exporter that ask what the monitors of the table ask. It ends each line that it sends with LF. */
const MODULES = {
  grpc_plain: { prober: "grpc", grpc: { service: "shop.Cart", tls: false } },
  grpc_tls: { prober: "grpc", grpc: { service: "shop.Cart", tls: true, ...SERVER_NAME } },
  tcp_tls: { prober: "tcp", tcp: { tls: true, ...SERVER_NAME } },
  tcp_redis: { prober: "tcp", timeout: "2s", tcp: { query_response: [{ send: "PING" }, { expect: "^\\+PONG" }] } },
  tcp_greeting: { prober: "tcp", timeout: "2s", tcp: { query_response: [{ expect: "^SSH-2\\.0-" }] } },
  tcp_starttls: {
    prober: "tcp",
    timeout: "2s",
    tcp: {
      ...SERVER_NAME,
      query_response: [
        { expect: "^220 " },
        { send: "EHLO probe.example.net" },
        { expect: "^250 STARTTLS" },
        { send: "STARTTLS" },
        { expect: "^220 " },
        { starttls: true },
      ],
    },
  },
};

let folder: string;
let exporter: Exporter;
let dns: DnsServer;
let root: string;
let good: readonly Issued[];
let expired: readonly Issued[];

beforeAll(async () => {
  if (missing !== null) return;
  folder = mkdtempSync(join(tmpdir(), "vantage-exporter-"));
  const pki = await createPki();
  root = pki.root.pem;
  writeFileSync(join(folder, "roots.pem"), root);
  good = [await pki.issue({ dns: [HOST] }), pki.intermediate];
  expired = [await pki.issue({ dns: [HOST], notAfter: daysFromNow(-2) }), pki.intermediate];
  dns = await startDnsServer({ zones: { [HOST]: { A: ["127.0.0.1"] } } });
  exporter = await startExporter(folder, join(folder, "roots.pem"), MODULES);
});
afterAll(async () => {
  if (missing !== null) return;
  await exporter?.stop();
  await dns?.close();
  rmSync(folder, { recursive: true });
});

/** The exporter's word about a server: up or down. */
async function exporterSays(module: keyof typeof MODULES | "tcp_connect", port: number): Promise<string> {
  const text = await exporter.probe({ module, target: `127.0.0.1:${port}` });
  return /^probe_success 1$/m.test(text) ? "up" : /^probe_success 0$/m.test(text) ? "down" : text;
}

const setting = () => ({ dnsServers: [dns.address], roots: [root] });
/** A target that cannot be reached, or does not answer, is down too. */
const verdictIn = (outcome: Awaited<ReturnType<typeof runMonitor>>): unknown =>
  outcome.status === "ok"
    ? outcome.data["verdict"]
    : outcome.status === "failed" && outcome.source === "target"
      ? "down"
      : outcome.status;
const tcpSays = async (port: number, given: object) =>
  verdictIn(await runMonitor(monitorTcp, { host: HOST, port, timeout_seconds: 2, ...given }, setting()));
const grpcSays = async (port: number, tls: boolean) =>
  verdictIn(await runMonitor(monitorGrpc, { host: HOST, port, tls, service: "shop.Cart" }, setting()));

const pem = (chain: readonly Issued[]) => identityOf(chain[0] as Issued, chain[1] as Issued);
const EHLO: Readonly<Record<string, Reaction>> = { EHLO: "250 STARTTLS\r\n", STARTTLS: "220 go on\r\n" };

describe.skipIf(missing !== null)("a grpc monitor and the exporter", () => {
  it.each<[string, Parameters<typeof startGrpcServer>[0], "none" | "good" | "expired", "up" | "down"]>([
    ["SERVING", 1, "none", "up"],
    ["NOT_SERVING", 2, "none", "down"],
    ["SERVICE_UNKNOWN", 3, "none", "down"],
    ["UNKNOWN", 0, "none", "down"],
    ["SERVING, over TLS", 1, "good", "up"],
    ["SERVING, with an expired certificate", 1, "expired", "down"],
  ])("say the same of a server that is %s", async (_what, health, certificate, verdict) => {
    const tls = certificate === "none" ? null : pem(certificate === "good" ? good : expired);
    const server = await startGrpcServer(health, { tls });
    const said = await exporterSays(tls === null ? "grpc_plain" : "grpc_tls", server.port);
    const ours = await grpcSays(server.port, tls !== null);
    server.close();
    expect([said, ours]).toEqual([verdict, verdict]);
  });

  it("say the same of a server without a health service, and of a closed port", async () => {
    const server = await startGrpcServer(1, { path: "/other.Service/Check" });
    expect([await exporterSays("grpc_plain", server.port), await grpcSays(server.port, false)]).toEqual([
      "down",
      "down",
    ]);
    server.close();
    const closed = await freePort();
    expect([await exporterSays("grpc_plain", closed), await grpcSays(closed, false)]).toEqual(["down", "down"]);
  });
});

describe.skipIf(missing !== null)("a tcp monitor and the exporter", () => {
  it.each<[string, Parameters<typeof exporterSays>[0], object, () => Parameters<typeof startTalker>[0], "up" | "down"]>(
    [
      ["accepts connections", "tcp_connect", {}, () => ({}), "up"],
      ["answers PONG", "tcp_redis", { preset: "redis" }, () => ({ on: { PING: "+PONG\r\n" } }), "up"],
      ["is loading", "tcp_redis", { preset: "redis" }, () => ({ on: { PING: "-LOADING\r\n" } }), "down"],
      ["greets as SSH", "tcp_greeting", { preset: "ssh" }, () => ({ greeting: "SSH-2.0-OpenSSH_9.2\r\n" }), "up"],
      ["greets as something else", "tcp_greeting", { preset: "ssh" }, () => ({ greeting: "220 ready\r\n" }), "down"],
      ["says nothing", "tcp_greeting", { preset: "ssh" }, () => ({}), "down"],
      ["has TLS", "tcp_tls", { tls: "implicit" }, () => ({ tlsAfter: "", chain: good }), "up"],
      ["has an expired certificate", "tcp_tls", { tls: "implicit" }, () => ({ tlsAfter: "", chain: expired }), "down"],
      ["has no TLS", "tcp_tls", { tls: "implicit" }, () => ({ greeting: "220 ready\r\n" }), "down"],
      [
        "begins TLS on demand",
        "tcp_starttls",
        { preset: "smtp", tls: "starttls" },
        () => ({ greeting: "220 ready\r\n", on: { ...EHLO, QUIT: "221 bye\r\n" }, tlsAfter: "STARTTLS", chain: good }),
        "up",
      ],
      [
        "begins TLS on demand with an expired certificate",
        "tcp_starttls",
        { preset: "smtp", tls: "starttls" },
        () => ({ greeting: "220 ready\r\n", on: EHLO, tlsAfter: "STARTTLS", chain: expired }),
        "down",
      ],
      [
        "has no STARTTLS",
        "tcp_starttls",
        { preset: "smtp", tls: "starttls" },
        () => ({ greeting: "220 ready\r\n", on: { EHLO: "250 ok\r\n" } }),
        "down",
      ],
    ],
  )("say the same of a server that %s", async (_what, module, given, script, verdict) => {
    const server = await startTalker(script());
    const said = await exporterSays(module, server.port);
    const ours = await tcpSays(server.port, given);
    await server.close();
    expect([said, ours]).toEqual([verdict, verdict]);
  });

  it("say the same of a closed port", async () => {
    const port = await freePort();
    expect([await exporterSays("tcp_connect", port), await tcpSays(port, {})]).toEqual(["down", "down"]);
  });
});
