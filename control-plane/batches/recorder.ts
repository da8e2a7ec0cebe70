import { isDatabaseAway } from "#control-plane/database/away.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { NewResult } from "#control-plane/batches/store.ts";

/** Writes a run's results as they come, many in one statement, through outages of the database. */
export interface Recorder {
  add(result: NewResult): void;
  /** Resolves when all is written; false where the batch is no longer this run's. */
  settle(): Promise<boolean>;
}

/** What it stands on. */
export interface RecorderOptions {
  /** false: not this run's any more. May reject while the database is away. */
  readonly write: (results: readonly NewResult[]) => Promise<boolean>;
  /** Gives up waiting for the database. */
  readonly signal: AbortSignal;
  /** The batch was cancelled, erased, or taken over. */
  readonly onLost: () => void;
}

const RETRY_MS = 500;

/** An empty recorder of one run. */
export function createRecorder({ write, signal, onLost }: RecorderOptions): Recorder {
  const waiting: NewResult[] = [];
  let lost = false;
  let idle: (() => void)[] = [];

  const pump = createPump(async () => {
    while (!lost && waiting.length > 0) {
      const batch = [...waiting];
      try {
        lost = !(await write(batch));
        waiting.splice(0, batch.length);
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
    add(result) {
      waiting.push(result);
      pump.wake();
    },
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
