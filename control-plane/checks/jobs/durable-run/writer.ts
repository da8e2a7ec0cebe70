import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import type { Writing } from "#control-plane/checks/jobs/durable-run/work.ts";

/** Runs the writes of an attempt one after the other. Waits while the database is away. */
interface RunWriter {
  /** Starts writing soon. Call it when there is something to write. */
  wake(): void;
  /** Resolves when everything is written; to false if the run no longer belongs to this claim. */
  settle(): Promise<boolean>;
}

/** Options of a writer. */
interface RunWriterOptions extends Writing {
  /** Reports whether something waits to be written. */
  readonly hasMore: () => boolean;
  /**
   * Writes the next part, which then no longer waits. Returns false if refused. Can reject while the database is away.
   */
  readonly write: () => Promise<boolean>;
}

/** Pause in milliseconds before a write is repeated. */
const RETRY_MS = 500;

/** Creates a writer for one attempt. It never runs two writes at the same time. */
export function createRunWriter({ hasMore, write, signal, onLost }: RunWriterOptions): RunWriter {
  let lost = false;
  let idle: (() => void)[] = [];
  const pump = createPump(async () => {
    while (!lost && hasMore()) {
      try {
        lost = !(await write());
      } catch (error) {
        // A wrong statement fails again when it is repeated: the attempt ends, and the next one continues from what is
        // stored.
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
