/** Work that is done in batches: whoever adds something wakes the pump. */
interface Pump {
  /** Asks for a flush soon. Cheap, and harmless when one is already coming. */
  wake(): void;
}

/**
 * Runs `flush` once per turn of the event loop at most, never twice at once, and again when it was woken meanwhile. What
 * arrives while a statement is under way travels in the next one: no timer, and no wait when there is little to do.
 * `flush` takes what is waiting and must not reject.
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
