/** Runs work in batches. Code that adds work wakes the pump. */
interface Pump {
  /** Requests a flush soon. Cheap, and without effect if one is already scheduled. */
  wake(): void;
}

/**
 * Creates a pump. It runs `flush` at most once per turn of the event loop, never twice at the same time, and again if
 * it was woken during a run. Work that arrives while a statement is running is part of the next one. So there is no
 * timer, and no delay when there is little to do. `flush` takes the waiting work and must not reject.
 */
export function createPump(flush: () => Promise<void>): Pump {
  let scheduled = false;
  let running = false;
  let again = false;

  function run(): void {
    scheduled = false;
    running = true;
    void flush().finally(() => {
      running = false;
      if (again) {
        again = false;
        wake();
      }
    });
  }

  function wake(): void {
    if (running) again = true;
    else if (!scheduled) {
      scheduled = true;
      setImmediate(run);
    }
  }

  return { wake };
}
