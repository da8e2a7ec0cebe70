import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { spawnSync } from "node:child_process";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { readCpuSeconds } from "#test/fleet/process-times.ts";
import { readPssMb, type Product } from "#test/bench/product.ts";
import { row, type Row } from "#test/bench/report.ts";

/** Time after the start until the first look, and between the two looks, in milliseconds. */
const REST_MS = 240_000;
const LOOK_MS = 60_000;

/** Parts of the product by what is in their command lines; the supervisor is what is left. */
const PARTS: readonly (readonly [part: string, word: string])[] = [
  ["control plane", "control-plane/main.ts"],
  ["ICMP process", "net/icmp/main.ts"],
  ["agent", "probe-agent/main.ts"],
  ["PostgreSQL", "postgres"],
];

/** Measures what a product without any monitor takes after five minutes: memory (PSS) and processor time by part. */
export async function benchIdle(product: Product): Promise<Row[]> {
  await sleep(REST_MS);
  const before = new Map(treeOf(product.processes.supervisor).map((pid) => [pid, readCpuSeconds(pid)]));
  await sleep(LOOK_MS);
  const memory = new Map<string, number>();
  const cpu = new Map<string, number>();
  const add = (figures: Map<string, number>, part: string, value: number) =>
    figures.set(part, (figures.get(part) ?? 0) + value);
  for (const pid of treeOf(product.processes.supervisor)) {
    const part = partOf(pid);
    add(memory, part, readPssMb(pid));
    add(cpu, part, ((readCpuSeconds(pid) - (before.get(pid) ?? 0)) / LOOK_MS) * 1e5);
  }
  const total = (figures: Map<string, number>) => Array.from(figures.values()).reduce((sum, value) => sum + value, 0);
  return [
    ...Array.from(memory, ([part, mb]) => row(`idle, ${part}: memory (PSS)`, mb, "MB")),
    row("idle, all: memory (PSS)", total(memory), "MB", { atMost: 250 }),
    ...Array.from(cpu, ([part, percent]) => row(`idle, ${part}: of a core`, percent, "%")),
    row("idle, all: of a core", total(cpu), "%", { atMost: 1 }),
  ];
}

function treeOf(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
}

function partOf(pid: number): string {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
  return PARTS.find(([, word]) => command.includes(word))?.[0] ?? "supervisor";
}

const RUNS = 20;

/** Measures the processor time of two commands that ask no service, with compiled code kept: the mean of twenty runs. */
export function benchCommand(): Row[] {
  return [
    row("vantage --version: processor time", meanCpu(["--version"]), "ms", { atMost: 80 }),
    row("vantage ssl --help: processor time", meanCpu(["ssl", "--help"]), "ms", { atMost: 200 }),
    row("node -e 0: processor time", meanCpu(["-e", "0"], process.execPath), "ms"),
  ];
}

/**
 * The shell adds up the time of its children (times(1p)): user and system, of the second pair. Each is counted in ticks of
 * 10 ms, so that one run says little.
 */
function meanCpu(words: readonly string[], program = LAUNCHER_PATH): number {
  const line = [program, ...words].map((word) => `'${word}'`).join(" ");
  const runs = Array.from({ length: RUNS }, () => `${line} >/dev/null`).join("; ");
  const { stdout } = spawnSync("sh", ["-c", `${runs}; times`], { encoding: "utf8" });
  const [, children = ""] = stdout.trim().split("\n");
  const seconds = Array.from(
    children.matchAll(/(\d+)m([\d.]+)s/g),
    ([, whole, rest]) => Number(whole) * 60 + Number(rest),
  );
  return (seconds.reduce((sum, each) => sum + each, 0) / RUNS) * 1000;
}
