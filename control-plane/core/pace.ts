import type { Clock } from "#shared/time/clock.ts";

/** Divides a long computation into pieces, between which other work of the event loop runs. */
export interface Pace {
  /** Reports whether the present piece has lasted long enough. */
  isDue(): boolean;
  /** Lets other work run, and begins the next piece. */
  rest(): Promise<void>;
}

/** Longest duration of a piece, in milliseconds. With a step that overruns it the loop is held for less than 10 ms. */
const PIECE_MS = 4;

/** Creates the pace of one computation. Its steps are short, and it asks between them. */
export function createPace(clock: Pick<Clock, "monotonic">): Pace {
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
