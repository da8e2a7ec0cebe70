import type { JobEvent } from "#probe-agent/net/icmp/messages.ts";

/** Running jobs of the ICMP process on the agent's side, with the listener of each. */
interface HostJobs {
  /** Adds a job and returns its number. */
  add(onEvent: (event: JobEvent) => void): number;
  /** Removes a job without an event. Returns false if it has already ended. */
  remove(job: number): boolean;
  /** Passes an event to the listener of its job. An event that ends the job removes it. */
  deliver(event: JobEvent): void;
  /** Counts the running jobs. */
  count(): number;
  /** Ends every job with this failure. */
  failAll(reason: string, message: string): void;
}

/** Creates an empty list of jobs. Job numbers start at 1 and are never used again. */
export function createHostJobs(): HostJobs {
  const listeners = new Map<number, (event: JobEvent) => void>();
  let last = 0;
  const deliver = (event: JobEvent): void => {
    const listener = listeners.get(event.job);
    if (event.kind !== "reply" && event.kind !== "hop") listeners.delete(event.job);
    listener?.(event);
  };
  return {
    add(onEvent) {
      last += 1;
      listeners.set(last, onEvent);
      return last;
    },
    remove: (job) => listeners.delete(job),
    deliver,
    count: () => listeners.size,
    failAll(reason, message) {
      for (const job of listeners.keys()) deliver({ job, kind: "failed", reason, message });
    },
  };
}

/** First and longest wait before a restart, in milliseconds. */
export interface RestartBackOff {
  readonly first: number;
  readonly longest: number;
}

// A process that lived this long started properly, so the next failure is a new one. In milliseconds.
const SETTLED_AFTER_MS = 60_000;

/**
 * Creates the waits between restarts of a process. The returned function takes the life time of the process and returns
 * the wait before the next start, both in milliseconds. Each wait is twice the last one. After a long life, it is the
 * first one again.
 */
export function createRestartWait({ first, longest }: RestartBackOff): (livedMs: number) => number {
  let nextMs = first;
  return (livedMs) => {
    const waitMs = livedMs >= SETTLED_AFTER_MS ? first : nextMs;
    nextMs = Math.min(waitMs * 2, longest);
    return waitMs;
  };
}
