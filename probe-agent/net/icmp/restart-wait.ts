/** First and longest wait before a restart, milliseconds. */
export interface RestartBackOff {
  readonly first: number;
  readonly longest: number;
}

// A process that lived this long did start properly: the next failure is a new one.
const SETTLED_AFTER_MS = 60_000;

/**
 * Creates the waits between restarts of a process. The function returned takes how long the process lived and returns how
 * long to wait before the next start: each wait is twice the last one, and the first one again after a long life.
 */
export function createRestartWait({ first, longest }: RestartBackOff): (livedMs: number) => number {
  let nextMs = first;
  return (livedMs) => {
    const waitMs = livedMs >= SETTLED_AFTER_MS ? first : nextMs;
    nextMs = Math.min(waitMs * 2, longest);
    return waitMs;
  };
}
