import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const BINARY = "prometheus-blackbox-exporter";
const CONFIG = {
  modules: { http_2xx: { prober: "http" }, tcp_connect: { prober: "tcp" }, icmp: { prober: "icmp" } },
};

/** A running prometheus-blackbox-exporter of this machine. */
export interface Exporter {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the exporter on a free port with the modules http_2xx, tcp_connect and icmp; null where it is not installed. */
export async function startExporter(folder: string): Promise<Exporter | null> {
  if (spawnSync(BINARY, ["--version"]).status !== 0) return null;
  const config = join(folder, "exporter.json");
  writeFileSync(config, JSON.stringify(CONFIG)); // JSON is YAML
  const port = await freePort();
  const words = [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error"];
  const child = spawn(BINARY, words, { stdio: "ignore" });
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/-/healthy`).catch(() => null);
    if (answer?.ok === true) break;
    await sleep(100);
  }
  return {
    port,
    pid: child.pid ?? 0,
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
