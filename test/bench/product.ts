import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ENTRY = fileURLToPath(new URL("../../shared/client/main.ts", import.meta.url));
/** Limits high enough to have no effect here. */
const PLANS = { captain: { requests_per_minute: 1_000_000_000, requests_per_day: 1_000_000_000 } };

/** The whole product as `npm start` runs it, on free ports and in a new data directory. */
export interface Product {
  readonly port: number;
  readonly key: string;
  readonly folder: string;
  /** Milliseconds from spawn to ready. */
  readonly startMs: number;
  /** Process ids by part of the product. */
  readonly processes: Readonly<Record<"supervisor" | "controlPlane" | "agent", number>>;
  stop(): Promise<void>;
}

/** Creates a data directory. `remove` deletes it. */
export function makeFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "vantage-bench-"));
  writeFileSync(join(folder, "plans.json"), JSON.stringify(PLANS));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Starts the product in a folder and waits until it is ready. `key` is that of an earlier start in the same folder. */
export async function startProduct(folder: string, key?: string): Promise<Product> {
  const [port, grpc] = await Promise.all([freePort(), freePort()]);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [ENTRY, "up"], {
    env: {
      ...process.env,
      VANTAGE_DATA_DIR: join(folder, "data"),
      VANTAGE_HTTP_ADDR: `127.0.0.1:${port}`,
      VANTAGE_GRPC_ADDR: `127.0.0.1:${grpc}`,
      VANTAGE_METRICS_ADDR: "off",
      VANTAGE_AGENT_METRICS_ADDR: "off",
      VANTAGE_PLANS: join(folder, "plans.json"),
      VANTAGE_ALLOW_TARGETS: "127.0.0.0/8",
      VANTAGE_OPEN_PER_MINUTE: "1000000",
      VANTAGE_OPEN_PER_DAY: "1000000000",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = await readUntil(child, "Ctrl-C");
  const startMs = performance.now() - startedAt;
  return {
    port,
    key: /vtg_[0-9A-Za-z]{36}/.exec(output)?.[0] ?? key ?? "",
    folder,
    startMs,
    processes: {
      supervisor: child.pid ?? 0,
      controlPlane: childRunning(child, "control-plane/main.ts"),
      agent: childRunning(child, "probe-agent/main.ts"),
    },
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function readUntil(child: ChildProcess, word: string): Promise<string> {
  let output = "";
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    if (output.includes(word)) return output;
  }
  throw new Error(`the product ended before it was ready: ${output}`);
}

/** Returns the child process of the supervisor whose command names an entry file (proc(5)). */
function childRunning(supervisor: ChildProcess, entry: string): number {
  const children = readFileSync(`/proc/${supervisor.pid}/task/${supervisor.pid}/children`, "utf8").trim().split(" ");
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(entry));
  return Number(found);
}

/**
 * Returns the proportional set size of one process in MB (proc(5), smaps_rollup), in which shared pages count by their
 * share.
 */
export function readPssMb(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) / 1024;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
