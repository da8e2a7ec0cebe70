import { readFileSync, readlinkSync } from "node:fs";

/** Returns the id of the calling thread for readProcessorMs; 0 where there is none (only Linux has /proc/thread-self). */
export function readThreadId(): number {
  try {
    return Number(/\/task\/(\d{1,9})$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Returns the processor time of a thread of this process, milliseconds; null if it is not known. proc(5), schedstat: its
 * first number is the time on the processor in nanoseconds. Node's worker.cpuUsage() is no replacement: the thread itself
 * answers it, and does not while it is in native code (a long JSON.parse or sort).
 */
export function readProcessorMs(threadId: number): number | null {
  if (threadId === 0) return null;
  try {
    const [spent = ""] = readFileSync(`/proc/self/task/${threadId}/schedstat`, "latin1").split(" ", 1);
    return /^\d{1,18}$/.test(spent) ? Number(spent) / 1e6 : null;
  } catch {
    // The thread has ended, or the kernel keeps no such numbers.
    return null;
  }
}
