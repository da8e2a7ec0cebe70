import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { readCpuSeconds } from "#test/fleet/process-times.ts";
import { runLoad, type Load } from "#test/bench/load.ts";
import { readPssMb, type Product } from "#test/bench/product.ts";
import { hopsOf } from "#test/bench/hops.ts";
import { row, type Row } from "#test/bench/report.ts";
import { startExporter, whyNoExporter, type Exporter } from "#test/lab/exporter.ts";

const ROUNDS = 3;
const CONNECTIONS = 50;
const SECONDS = 5;

/**
 * Compares GET /api/v4/probe with prometheus-blackbox-exporter at the same target, with 50 connections, in turn: the
 * best of three each, and the CPU time of a scrape by process. Without the exporter on this machine, returns one line
 * that says so.
 */
export async function benchBlackbox(product: Product): Promise<Row[]> {
  const reason = whyNoExporter();
  if (reason !== null) {
    console.log(reason);
    return [];
  }
  const exporter = await startExporter(product.folder, join(product.folder, "no-roots.pem"));
  const target = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain" }).end("ok");
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  const host = `127.0.0.1:${(target.address() as AddressInfo).port}`;
  const rows: Row[] = [];
  try {
    for (const [module, aim] of [
      ["http_2xx", `http://${host}/`],
      ["tcp_connect", host],
      ["icmp", "127.0.0.1"],
    ] as const) {
      rows.push(...(await benchModule(product, exporter, module, aim)));
    }
    rows.push(row("memory of the exporter (PSS)", readPssMb(exporter.pid), "MB"));
  } finally {
    target.close();
    await exporter.stop();
  }
  return rows;
}

async function benchModule(product: Product, exporter: Exporter, module: string, aim: string): Promise<Row[]> {
  const query = new URLSearchParams({ target: aim, module }).toString();
  const common = { connections: CONNECTIONS, seconds: SECONDS };
  const theirs: Load = { ...common, port: exporter.port, path: `/probe?${query}` };
  const ours: Load = {
    ...common,
    port: product.port,
    path: `/api/v4/probe?${query}`,
    headers: { "x-api-key": product.key },
  };
  const hops = hopsOf(product);
  const best = { ours: 0, theirs: 0 };
  const cpu = new Map<string, number>();
  let theirCpu = Infinity;
  await runLoad({ ...ours, seconds: 2 });
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = readCpuSeconds(exporter.pid);
    const peer = await rateOf(theirs);
    theirCpu = Math.min(theirCpu, (readCpuSeconds(exporter.pid) - before) / peer.count);
    best.theirs = Math.max(best.theirs, peer.rate);
    const started = hops.map(({ read }) => read());
    const own = await rateOf(ours);
    best.ours = Math.max(best.ours, own.rate);
    for (const [index, { name, read }] of hops.entries()) {
      const each = (read() - (started[index] ?? 0)) / own.count;
      cpu.set(name, Math.min(cpu.get(name) ?? Infinity, each));
    }
  }
  return [
    row(`${module}: blackbox_exporter`, best.theirs, "scrapes/s"),
    row(`${module}: GET /api/v4/probe`, best.ours, "scrapes/s"),
    row(`${module}: of the exporter's rate`, best.ours / best.theirs, "times", { atLeast: 0.9 }),
    row(`${module}: CPU of a scrape, exporter`, theirCpu * 1e6, "µs"),
    ...Array.from(cpu, ([name, seconds]) => row(`${module}: CPU of a scrape, ${name}`, seconds * 1e6, "µs")),
  ];
}

async function rateOf(load: Load): Promise<{ rate: number; count: number }> {
  const { rate, statuses } = await runLoad(load);
  if (Object.keys(statuses).some((status) => status !== "200")) throw new Error(JSON.stringify(statuses));
  return { rate, count: rate * (load.seconds ?? 5) };
}
