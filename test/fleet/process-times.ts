import { readFileSync } from "node:fs";

/**
 * Returns the CPU time of a process in seconds (proc(5), stat: utime and stime in ticks of 10 ms); 0 if it has ended.
 */
export function readCpuSeconds(pid: number): number {
  const fields = read(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/**
 * Returns how long a process's main thread was ready to run without a CPU, in seconds (the kernel's sched-stats); 0 if
 * it has ended.
 */
export function readWaitSeconds(pid: number): number {
  return Number(read(`/proc/${pid}/schedstat`).split(" ")[1] ?? 0) / 1e9;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
