/** Limits the number of concurrent users. The others wait in order. */
export interface Turns {
  /** Resolves with a function that ends the turn, or with null if the signal aborts first. */
  take(signal: AbortSignal): Promise<(() => void) | null>;
}

/** Creates a queue in front of `atOnce` places. */
export function createTurns(atOnce: number): Turns {
  let inside = 0;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) inside -= 1;
    else next();
  };
  const once = (run: () => void): (() => void) => {
    let done = false;
    return () => {
      if (!done) run();
      done = true;
    };
  };
  return {
    take(signal) {
      if (signal.aborted) return Promise.resolve(null);
      if (inside < atOnce) {
        inside += 1;
        return Promise.resolve(once(leave));
      }
      return new Promise((resolve) => {
        const enter = (): void => {
          waiting.delete(enter);
          signal.removeEventListener("abort", giveUp);
          resolve(once(leave));
        };
        const giveUp = (): void => {
          waiting.delete(enter);
          resolve(null);
        };
        waiting.add(enter);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}
