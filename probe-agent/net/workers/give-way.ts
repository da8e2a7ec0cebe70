import { setPriority } from "node:os";

/** As `nice` counts: the thread gets about a tenth of the time that the agent's own loop gets where both want it. */
const NICE = 10;

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
