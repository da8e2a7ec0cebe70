import { isDatabaseAway } from "#control-plane/database/database-away.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { Writing } from "#control-plane/jobs/durable-run/work.ts";

/** Stores what an attempt produces, piece by piece, and waits while the database is away. */
interface RunWriter {
  /** There is something to write. */
  wake(): void;
  /** Resolves when everything is written; false: the run is no longer this claim's. */
  settle(): Promise<boolean>;
}

/** What a writer needs. */
interface RunWriterOptions extends Writing {
  /** Whether something waits to be written. */
  readonly hasMore: () => boolean;
  /** Writes some of it, which then no longer waits; false: the store refused it. May reject while the database is away. */
  readonly write: () => Promise<boolean>;
}

const RETRY_MS = 500;

/** A writer for one attempt. It never runs two writes at once. */
export function createRunWriter({ hasMore, write, signal, onLost }: RunWriterOptions): RunWriter {
  let lost = false;
  let idle: (() => void)[] = [];
  const pump = createPump(async () => {
    while (!lost && hasMore()) {
      try {
        lost = !(await write());
      } catch (error) {
        // A statement that is wrong stays wrong: the attempt ends, and the next one starts from what is stored.
        lost = !isDatabaseAway(error) || signal.aborted;
        if (!lost) await delay(RETRY_MS);
      }
    }
    if (lost) onLost();
    for (const resolve of idle) resolve();
    idle = [];
  });
  return {
    wake: () => pump.wake(),
    async settle() {
      await new Promise<void>((resolve) => {
        idle.push(resolve);
        pump.wake();
      });
      return !lost;
    },
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
