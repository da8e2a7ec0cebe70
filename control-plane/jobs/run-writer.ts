import { isDatabaseAway } from "#control-plane/database/away.ts";
import { createPump } from "#control-plane/database/pump.ts";

/** Writes what a run in the background brings, piece after piece, through outages of the database. */
export interface RunWriter {
  /** There is something to write. */
  wake(): void;
  /** Resolves when all is written; false where the work is no longer this run's. */
  settle(): Promise<boolean>;
}

/** What it stands on. */
export interface RunWriterOptions {
  /** Whether something waits to be written. */
  readonly hasMore: () => boolean;
  /** Writes some of it, which then no longer waits; false: not this run's any more. May reject while the database is away. */
  readonly write: () => Promise<boolean>;
  /** Gives up waiting for the database. */
  readonly signal: AbortSignal;
  /** The work was cancelled, erased, or taken over. */
  readonly onLost: () => void;
}

const RETRY_MS = 500;

/** A writer for one run, which never writes two pieces at once. */
export function createRunWriter({ hasMore, write, signal, onLost }: RunWriterOptions): RunWriter {
  let lost = false;
  let idle: (() => void)[] = [];
  const pump = createPump(async () => {
    while (!lost && hasMore()) {
      try {
        lost = !(await write());
      } catch (error) {
        // What cannot be written will not be by trying again; the run ends and is taken up anew.
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
