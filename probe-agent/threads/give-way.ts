import { setPriority } from "node:os";

/**
 * As `nice` counts: the thread gets two thirds of the time of the agent's own loop where both want it (sched(7): a factor
 * of 1.25 a step). More starves pages on a machine that other programs keep busy: at 10 a page of 5 MB took 12 s.
 */
const NICE = 2;

/**
 * Has the calling thread give way to the others of its process, so that beats go out and times are measured rightly while
 * threads are at work. On Linux alone, where a thread has a niceness of its own (setpriority(2), NOTES); elsewhere it is
 * the process's.
 */
export function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(NICE);
  } catch {
    // A container may forbid it; then all threads are equal.
  }
}
