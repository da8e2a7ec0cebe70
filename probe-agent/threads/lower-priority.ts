import { setPriority } from "node:os";

/**
 * Niceness of the thread. It gets two thirds of the time of the agent's own event loop when both need the processor
 * (sched(7): a factor of 1.25 for each step). A higher value starves pages on a machine that other programs keep busy:
 * at 10, a page of 5 MB took 12 s.
 */
const NICE = 2;

/**
 * Lowers the priority of the calling thread, so that heartbeats are sent and times are measured correctly while threads
 * are busy. Works only on Linux, where each thread has its own niceness (setpriority(2), NOTES); elsewhere the niceness
 * belongs to the process.
 */
export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(NICE);
  } catch {
    // A container may forbid it. All threads have the same priority then.
  }
}
