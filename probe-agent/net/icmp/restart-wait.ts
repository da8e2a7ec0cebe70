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
