import { readFileSync } from "node:fs";

/** The least number of open files for a process that serves many connections; the default of most systems. */
export const ENOUGH_DESCRIPTORS = 1_024;

/** Parses the soft limit of open files from /proc/<pid>/limits (proc(5)); null if it is missing or unlimited. */
export function parseDescriptorLimit(limits: string): number | null {
  const soft = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}

/**
 * Returns how many files, sockets included, this process may have open. Node raises the soft limit to the hard one at its
 * start. If the system does not report the limit: ENOUGH_DESCRIPTORS.
 */
export function readDescriptorLimit(): number {
  try {
    return parseDescriptorLimit(readFileSync("/proc/self/limits", "utf8")) ?? ENOUGH_DESCRIPTORS;
  } catch {
    return ENOUGH_DESCRIPTORS;
  }
}
