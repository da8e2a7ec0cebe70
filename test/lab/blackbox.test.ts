import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { startTlsServer, type TlsServer } from "#test/servers/tls.ts";
import { startExporter, whyNoExporter, type Exporter } from "#test/lab/exporter.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

// Compares Debian's prometheus-blackbox-exporter and GET /api/v4/probe on the same targets in the same minute.
// Everything that an alert rule reads must be the same, except durations, which always differ between two programs: of
// those none is longer than the whole probe.
const missing = whyNoExporter();
if (missing !== null) console.log(`blackbox.test.ts ${missing}`);

const DURATIONS = /_(?:duration|time)_seconds(?:\{|$)/;

let plane: TestControlPlane;
let agent: AgentProcess;
let exporter: Exporter;
let web: HttpServer;
let secureWeb: HttpServer;
let good: TlsServer;
let expired: TlsServer;
let dns: DnsServer;
let key: string;
let folder: string;
let closed: string;

beforeAll(async () => {
  if (missing !== null) return;
  folder = mkdtempSync(join(tmpdir(), "vantage-exporter-"));
  const roots = join(folder, "roots.pem");
  const pki = await createPki();
  writeFileSync(roots, pki.root.pem);
  const leaf = await pki.issue({ dns: ["site.example"], ip: ["127.0.0.1"], notAfter: daysFromNow(6) });
  const old = await pki.issue({ ip: ["127.0.0.1"], notBefore: daysFromNow(-90), notAfter: daysFromNow(-1) });
  good = await startTlsServer({ chain: [leaf, pki.intermediate] });
  expired = await startTlsServer({ chain: [old, pki.intermediate] });
  web = await startHttpServer();
  secureWeb = await startHttpServer({
    tls: { key: leaf.keyPem, cert: [leaf.pem, pki.intermediate.pem].join("\n") },
  });
  const gone = await startHttpServer();
  await gone.close();
  closed = gone.url;
  dns = await startDnsServer({
    zones: {
      "site.example": {
        A: ["198.51.100.1", "198.51.100.2"],
        SOA: ["ns.site.example. h.site.example. 42 3600 600 86400 300"],
      },
    },
  });
  exporter = await startExporter(folder, roots);
  plane = await startControlPlane();
  key = await plane.createKey();
  agent = await startAgent(plane, "eu-west", { NODE_EXTRA_CA_CERTS: roots });
});
afterAll(async () => {
  if (missing !== null) return;
  await agent?.stop();
  await plane?.stop();
  await exporter?.stop();
  await Promise.all([web, secureWeb, good, expired, dns].map((server) => server?.close()));
  rmSync(folder, { recursive: true });
});

/** Returns every series by its full name. */
function series(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("vantage_"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

/** Returns HELP and TYPE of every family of the exporter. */
function families(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("# ") && !line.includes("vantage_"));
}

interface Case {
  readonly what: string;
  readonly module: string;
  readonly target: () => string;
  readonly type?: string;
}

const CASES: readonly Case[] = [
  { what: "a plain answer", module: "http_2xx", target: () => `${web.url}/bytes/1000` },
  { what: "redirects", module: "http_2xx", target: () => `${web.url}/redirect/3` },
  { what: "a server error", module: "http_2xx", target: () => `${web.url}/status/500` },
  { what: "an empty answer", module: "http_2xx", target: () => `${web.url}/status/204` },
  { what: "a posted request", module: "http_post_2xx", target: () => `${web.url}/bytes/10` },
  { what: "https", module: "http_2xx", target: () => `${secureWeb.url}/bytes/10` },
  { what: "an open port", module: "tcp_connect", target: () => new URL(web.url).host },
  { what: "a closed port", module: "tcp_connect", target: () => new URL(closed).host },
  { what: "TLS", module: "tls_connect", target: () => `127.0.0.1:${good.port}` },
  { what: "TLS with an expired certificate", module: "tls_connect", target: () => `127.0.0.1:${expired.port}` },
  { what: "an echo", module: "icmp", target: () => "127.0.0.1" },
  ...(["udp", "tcp"] as const).flatMap((transport) =>
    ["A", "SOA", "MX"].map((type) => ({
      what: `${type} records over ${transport}`,
      module: `dns_${transport}`,
      target: () => dns.address,
      type,
    })),
  ),
];

async function both({ module, target, type }: Case): Promise<{ theirs: string; ours: string }> {
  const where = target();
  const theirs = await exporter.probe({ target: where, module: type === undefined ? module : `${module}_${type}` });
  const query = {
    target: where,
    module,
    ...(type === undefined ? {} : { query_name: "site.example", query_type: type }),
  };
  const answer = await plane.call(`/api/v4/probe?${new URLSearchParams(query).toString()}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(200);
  return { theirs, ours: answer.text };
}

describe.skipIf(missing !== null)("blackbox_exporter and our /probe", () => {
  it.each(CASES)("agree on $what ($module)", async (each) => {
    const { theirs, ours } = await both(each);
    const [expected, got] = [series(theirs), series(ours)];
    // The same series with the same labels: an alert rule finds what it looks for, and nothing unexpected.
    expect([...got.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    expect(families(ours)).toEqual(families(theirs));
    const whole = got.get("probe_duration_seconds") ?? 0;
    for (const [name, value] of expected) {
      const mine = got.get(name) ?? Number.NaN;
      if (DURATIONS.test(name)) expect([name, mine >= 0, mine <= whole]).toEqual([name, true, true]);
      else expect({ [name]: mine }).toEqual({ [name]: value });
    }
  });

  it.each<Case>([
    { what: "a closed port", module: "http_2xx", target: () => closed },
    { what: "a bad certificate", module: "http_2xx", target: () => `https://127.0.0.1:${expired.port}/` },
    { what: "TLS on a port without", module: "tls_connect", target: () => new URL(web.url).host },
  ])("agree on a target that fails, except for its address: $what ($module)", async (each) => {
    const { theirs, ours } = await both(each);
    const [expected, got] = [series(theirs), series(ours)];
    expect([...got.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    const differing = [...expected].filter(([name, value]) => !DURATIONS.test(name) && got.get(name) !== value);
    expect(differing.map(([name]) => name).toSorted()).toEqual(["probe_ip_addr_hash", "probe_ip_protocol"]);
  });
});
