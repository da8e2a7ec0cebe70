import { readFileSync } from "node:fs";

/** A process that serves many connections should be allowed this many open files; the default of most systems. */
export const ENOUGH_DESCRIPTORS = 1_024;

/** The soft limit of open files in the text of /proc/<pid>/limits (proc(5)); null where it is not there or unlimited. */
export function parseDescriptorLimit(limits: string): number | null {
  const soft = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}

/**
 * How many files, sockets included, this process may have open. Node raises the soft limit to the hard one when it starts.
 * Where the system does not tell, the usual default.
 */
export function readDescriptorLimit(): number {
  try {
    return parseDescriptorLimit(readFileSync("/proc/self/limits", "utf8")) ?? ENOUGH_DESCRIPTORS;
  } catch {
    return ENOUGH_DESCRIPTORS;
  }
}
