import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { until } from "#test/support/until.ts";

/** A running prometheus-blackbox-exporter. */
export interface Exporter {
  readonly port: number;
  readonly pid: number;
  probe(query: Readonly<Record<string, string>>): Promise<string>;
  stop(): Promise<void>;
}

const BINARY = "prometheus-blackbox-exporter";

/** Returns why the exporter cannot be run here; null if it can. */
export function whyNoExporter(): string | null {
  try {
    execFileSync(BINARY, ["--version"], { stdio: "pipe" });
    return null;
  } catch {
    return `skipped: ${BINARY} is not installed`;
  }
}

/** Modules as GET /api/v4/probe has them. A dns module of the exporter has its question in its configuration. */
const CONFIG = {
  modules: {
    http_2xx: { prober: "http" },
    http_post_2xx: { prober: "http", http: { method: "POST" } },
    tcp_connect: { prober: "tcp" },
    tls_connect: { prober: "tcp", tcp: { tls: true } },
    icmp: { prober: "icmp" },
    ...Object.fromEntries(
      (["udp", "tcp"] as const).flatMap((transport) =>
        ["A", "SOA", "MX"].map((type) => [
          `dns_${transport}_${type}`,
          {
            prober: "dns",
            dns: { query_name: "site.example", query_type: type, transport_protocol: transport },
          },
        ]),
      ),
    ),
  },
};

/**
 * Starts it on a free port with only the roots in `rootsFile`, and with these modules beside those above. Its log is off,
 * because benches compare with it.
 */
export async function startExporter(
  folder: string,
  rootsFile: string,
  modules: Readonly<Record<string, object>> = {},
): Promise<Exporter> {
  const config = join(folder, "exporter.json");
  writeFileSync(config, JSON.stringify({ modules: { ...CONFIG.modules, ...modules } })); // JSON is YAML
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const child = spawn(BINARY, [`--config.file=${config}`, `--web.listen-address=${address}`, "--log.level=error"], {
    env: { PATH: process.env["PATH"], SSL_CERT_FILE: rootsFile, SSL_CERT_DIR: folder },
    stdio: "ignore",
  });
  const ask = async (path: string): Promise<string> => {
    const response = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(15_000) });
    return response.text();
  };
  await until(() => ask("/-/healthy"), "the exporter answers");
  return {
    port,
    pid: child.pid ?? 0,
    probe: (query) => ask(`/probe?${new URLSearchParams(query).toString()}`),
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
