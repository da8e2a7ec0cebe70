import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const GENERATOR = fileURLToPath(new URL("generator.ts", import.meta.url));

/** One run of the generator. */
export interface Load {
  readonly port: number;
  readonly path: string;
  /** Sent by POST; a GET if absent. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections?: number;
  readonly seconds?: number;
  /** Requests from each loopback address before another one is used; absent: all from one. */
  readonly perAddress?: number;
  /** Number of addresses that earlier runs used. */
  readonly firstAddress?: number;
}

/** Result of a run: requests per second, latency in milliseconds, responses by status. */
export interface LoadReport {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** Runs the generator in a separate process against loopback. */
export async function runLoad(load: Load): Promise<LoadReport> {
  const headers = Object.entries(load.headers ?? {}).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const options = { port: load.port, path: load.path, connections: load.connections ?? 50, seconds: load.seconds ?? 5 };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  if (load.perAddress !== undefined) flags.push("--per-address", String(load.perAddress));
  if (load.firstAddress !== undefined) flags.push("--first-address", String(load.firstAddress));
  if (load.body !== undefined) flags.push("--method", "POST", "--body", load.body);
  const { stdout } = await promisify(execFile)(process.execPath, [GENERATOR, ...flags, ...headers]);
  return JSON.parse(stdout) as LoadReport;
}
