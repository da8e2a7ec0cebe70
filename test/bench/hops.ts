import { readdirSync, readFileSync } from "node:fs";
import { readCpuSeconds } from "#test/fleet/process-times.ts";
import type { Product } from "#test/bench/product.ts";

/** A part of the product whose CPU time can be read. */
export interface Hop {
  readonly name: string;
  /** Returns the CPU seconds used since its processes started. */
  readonly read: () => number;
}

/** Returns the processes that handle a scrape: control plane, agent, the agent's ICMP child, database. */
export function hopsOf({ processes }: Product): readonly Hop[] {
  const { controlPlane, agent, supervisor } = processes;
  return [
    { name: "control plane", read: () => readCpuSeconds(controlPlane) },
    { name: "agent", read: () => readCpuSeconds(agent) },
    { name: "ICMP child", read: () => sum(childrenOf(agent)) },
    {
      name: "database",
      read: () => {
        const servers = childrenOf(supervisor).filter((pid) => commandOf(pid).includes("postgres"));
        return sum([...servers, ...servers.flatMap(childrenOf)]);
      },
    },
  ];
}

function sum(pids: readonly number[]): number {
  return pids.reduce((total, pid) => total + readCpuSeconds(pid), 0);
}

/** Returns the child processes of a process (proc(5), /proc/pid/stat, fourth field). */
function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(read(`/proc/${pid}/stat`).split(") ")[1]?.split(" ")[1]) === parent);
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
