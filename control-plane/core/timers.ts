import type { Clock } from "#shared/time/clock.ts";

/**
 * What a replica repeats. While nothing can become due it rests: then all of it runs together once a minute, one after
 * the other, and no timer runs between. Whatever can make something due ends the rest at once.
 */
export interface Timers {
  /**
   * Calls `work` every `everyMs` milliseconds, for the first time after that interval. It must not reject; what it
   * returns is awaited only while the replica rests.
   */
  repeat(everyMs: number, work: () => void | Promise<void>): Repetition;
  /** Reports that something happened. Ends a rest; the next one begins at the earliest in QUIET_MS. */
  wake(): void;
  /** Calls `listener` whenever a minute of rest begins. Returns a function that stops this. */
  onRest(listener: () => void): () => void;
  /**
   * Allows rests. `isBusy` is asked before each minute of rest whether anything can become due in it; while it returns
   * true, or rejects, the replica does not rest.
   */
  allowRest(isBusy: () => Promise<boolean>): void;
  /** Ends every repetition. */
  stop(): void;
}

/** One piece of repeated work. */
interface Repetition {
  /** Calls it no more. Does not wait for a call that runs. */
  stop(): void;
}

/** Length of a rest, in milliseconds. What is due within it must keep the replica from resting. */
export const REST_MS = 60_000;
/** Time without anything happening before a rest, in milliseconds. */
const QUIET_MS = 30_000;

interface Entry {
  readonly everyMs: number;
  readonly work: () => void | Promise<void>;
  interval: NodeJS.Timeout | undefined;
  /** When it was last called while the replica rested, or resumed, monotonic milliseconds. */
  calledAt: number;
}

/** Creates timers that do not rest before they are allowed to. The two intervals are shorter in tests. */
export function createTimers(
  clock: Pick<Clock, "monotonic">,
  { restMs = REST_MS, quietMs = QUIET_MS }: { readonly restMs?: number; readonly quietMs?: number } = {},
): Timers {
  const entries = new Set<Entry>();
  const listeners = new Set<() => void>();
  let isBusy: (() => Promise<boolean>) | null = null;
  let isResting = false;
  let isStopped = false;
  /** Whether something happened since the last look. */
  let hasHappened = false;
  let look: NodeJS.Timeout | undefined;

  function resume(entry: Entry): void {
    const call = (): void => {
      entry.calledAt = clock.monotonic();
      void entry.work();
    };
    entry.interval = setInterval(call, entry.everyMs).unref();
  }

  function lookAfter(ms: number): void {
    clearTimeout(look);
    if (!isStopped) look = setTimeout(() => void (isResting ? runAll() : rest()), ms).unref();
  }

  /** Begins a minute of rest if nothing has happened and nothing can become due. */
  async function rest(): Promise<void> {
    const wasQuiet = !hasHappened;
    hasHappened = false;
    const canRest = wasQuiet && isBusy !== null && !(await isBusy().catch(() => true));
    if (hasHappened || isStopped) return lookAfter(quietMs);
    if (!canRest) return resumeAll(wasQuiet ? restMs : quietMs);
    isResting = true;
    for (const { interval } of entries) clearInterval(interval);
    for (const listener of listeners) listener();
    lookAfter(restMs);
  }

  /** Runs in a rest what has become due by its interval, and looks whether to rest on. */
  async function runAll(): Promise<void> {
    for (const entry of entries) {
      if (!isResting || isStopped) return;
      if (!isDue(entry)) continue;
      entry.calledAt = clock.monotonic();
      await entry.work();
    }
    if (isResting) await rest();
  }

  const isDue = ({ everyMs, calledAt }: Entry): boolean =>
    everyMs <= restMs || clock.monotonic() - calledAt >= everyMs - restMs / 2;

  function resumeAll(nextLookMs: number): void {
    if (isResting) {
      isResting = false;
      for (const entry of entries) resume(entry);
    }
    lookAfter(nextLookMs);
  }

  return {
    repeat(everyMs, work) {
      const entry: Entry = { everyMs, work, interval: undefined, calledAt: clock.monotonic() };
      entries.add(entry);
      if (!isResting) resume(entry);
      return {
        stop() {
          entries.delete(entry);
          clearInterval(entry.interval);
        },
      };
    },
    wake() {
      hasHappened = true;
      if (!isResting || isStopped) return;
      resumeAll(quietMs);
      for (const entry of entries) if (isDue(entry)) void entry.work();
    },
    onRest(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    allowRest(given) {
      isBusy = given;
      lookAfter(quietMs);
    },
    stop() {
      isStopped = true;
      clearTimeout(look);
      for (const { interval } of entries) clearInterval(interval);
      entries.clear();
    },
  };
}
