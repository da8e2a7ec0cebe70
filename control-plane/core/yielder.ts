import type { Clock } from "#shared/time/clock.ts";

/** Lets a long computation yield to the event loop between its pieces. */
export interface Yielder {
  /** Reports whether the present piece has lasted long enough. */
  isDue(): boolean;
  /** Lets other work run, and begins the next piece. */
  rest(): Promise<void>;
}

/** Longest duration of a piece, in milliseconds. With a step that overruns it the loop is held for less than 10 ms. */
const PIECE_MS = 4;

/** Creates the yielder of one computation, which asks it between short steps. */
export function createYielder(clock: Pick<Clock, "monotonic">): Yielder {
  let begunAt = clock.monotonic();
  return {
    isDue: () => clock.monotonic() - begunAt >= PIECE_MS,
    async rest() {
      // A promise alone would resume before any other work: the loop has to turn.
      await new Promise((resolve) => setImmediate(resolve));
      begunAt = clock.monotonic();
    },
  };
}
