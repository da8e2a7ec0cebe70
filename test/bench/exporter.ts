import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { EXPORTER_MEMORY, withMemory } from "#shared/client/process-memory.ts";
import { PROGRAMS } from "#shared/client/programs.ts";
import { readCpuSeconds } from "#test/fleet/process-times.ts";
import { startExporter, whyNoExporter } from "#test/lab/exporter.ts";
import { readPssMb } from "#test/bench/product.ts";
import { row, type Row } from "#test/bench/report.ts";
import { startTinyWeb } from "#test/bench/tiny-web.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

const ROUNDS = 3;
const SECONDS = 4;
const CONNECTIONS = [1, 50, 200];

/** Answers every query with one address, with as little work as possible. */
const RESOLVER = `
  const socket = require("node:dgram").createSocket("udp4");
  const head = Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 0x2c, 0, 4, 192, 0, 2, 1]);
  socket.on("message", (query, from) =>
    socket.send(Buffer.concat([query.subarray(0, 2), head, query.subarray(12), answer]), from.port, from.address));
  socket.bind(0, "127.0.0.1", () => console.log(socket.address().port));
`;

/**
 * Compares `vantage exporter` with prometheus-blackbox-exporter by wrk, in turn, at 1, 50 and 200 connections: the best
 * rate and the lowest 99th percentile of three rounds each, the CPU time of a probe and the memory. Without one of the
 * programs, returns nothing and prints a line that says so.
 */
export async function benchExporter(folder: string): Promise<Row[]> {
  const missing = whyNoExporter() ?? (spawnSync("wrk", ["-v"]).error ? "skipped: wrk is not installed" : null);
  if (missing !== null) {
    console.log(missing);
    return [];
  }
  const theirs = await startExporter(folder, join(folder, "no-roots.pem"));
  const port = await freePort();
  const ours = spawn(process.execPath, [PROGRAMS.exporter], {
    env: withMemory(
      {
        PATH: process.env["PATH"],
        VANTAGE_EXPORTER: `127.0.0.1:${port}`,
        VANTAGE_EXPORTER_CONFIG_FILE: join(folder, "exporter.json"),
        VANTAGE_LOG_LEVEL: "error",
      },
      EXPORTER_MEMORY,
    ),
    stdio: "ignore",
  });
  const web = await startTinyWeb();
  const resolver = spawn(process.execPath, ["-e", RESOLVER], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(resolver.stdout, "data")) as [Buffer];
  const targets = {
    http_2xx: `http://127.0.0.1:${web.port}/`,
    tcp_connect: `127.0.0.1:${web.port}`,
    icmp: "127.0.0.1",
    dns_udp_A: `127.0.0.1:${Number(line.toString())}`,
  };
  try {
    await until(() => fetch(`http://127.0.0.1:${port}/-/healthy`), "our exporter answers");
    const both = [
      { name: "theirs", port: theirs.port, pid: theirs.pid },
      { name: "ours", port, pid: ours.pid ?? 0 },
    ] as const;
    const rows: Row[] = [];
    for (const [module, target] of Object.entries(targets)) {
      const path = `/probe?${new URLSearchParams({ module, target }).toString()}`;
      for (const one of both) await measure(one, path, 50);
      for (const connections of CONNECTIONS) rows.push(...(await compare(both, path, module, connections)));
    }
    rows.push(...both.map(({ name, pid }) => row(`memory, ${name} (PSS)`, memoryOf(pid), "MB")));
    return rows;
  } finally {
    ours.kill("SIGTERM");
    resolver.kill();
    web.stop();
    await theirs.stop();
  }
}

interface Program {
  readonly port: number;
  readonly pid: number;
}

interface Measured {
  readonly rate: number;
  readonly p99: number;
  /** Seconds. */
  readonly cpu: number;
}

async function compare(
  [theirs, ours]: readonly [Program, Program],
  path: string,
  module: string,
  connections: number,
): Promise<Row[]> {
  const rounds: (readonly [Measured, Measured])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push([await measure(theirs, path, connections), await measure(ours, path, connections)]);
  }
  const best = (who: 0 | 1): Measured => ({
    rate: Math.max(...rounds.map((round) => round[who].rate)),
    p99: Math.min(...rounds.map((round) => round[who].p99)),
    cpu: Math.min(...rounds.map((round) => round[who].cpu)),
  });
  const [peer, own] = [best(0), best(1)];
  const what = `${module}, ${connections} connections`;
  return [
    row(`${what}: blackbox_exporter`, peer.rate, "probes/s"),
    row(`${what}: vantage exporter`, own.rate, "probes/s"),
    row(`${what}: of its rate`, own.rate / peer.rate, "times", { atLeast: 1.2 }),
    row(`${what}: p99, of its`, own.p99 / peer.p99, "times", { atMost: 1 }),
    row(`${what}: CPU of a probe, blackbox_exporter`, peer.cpu * 1e6, "µs"),
    row(`${what}: CPU of a probe, vantage exporter`, own.cpu * 1e6, "µs"),
  ];
}

async function measure({ port, pid }: Program, path: string, connections: number): Promise<Measured> {
  const before = cpuOf(pid);
  const flags = [
    "-t1",
    `-c${connections}`,
    `-d${SECONDS}s`,
    "--latency",
    "-s",
    SCRIPT,
    `http://127.0.0.1:${port}${path}`,
  ];
  const { stdout } = await promisify(execFile)("wrk", flags);
  const [, rate, p99, count, failed] = /^result (\S+) (\S+) (\S+) (\S+)$/m.exec(stdout) ?? [];
  if (failed !== "0") throw new Error(stdout);
  return { rate: Number(rate), p99: Number(p99), cpu: (cpuOf(pid) - before) / Number(count) };
}

const SCRIPT = new URL("wrk-report.lua", import.meta.url).pathname;

/** CPU time of a program and its children, in seconds. */
function cpuOf(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + readCpuSeconds(each), 0);
}

function memoryOf(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + readPssMb(each), 0);
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}
