import type { NewResult } from "#control-plane/batches/store.ts";
import { createRunWriter } from "#control-plane/jobs/run-writer.ts";

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

/** An empty recorder of one run. */
export function createRecorder({ write, signal, onLost }: RecorderOptions): Recorder {
  const waiting: NewResult[] = [];
  const writer = createRunWriter({
    hasMore: () => waiting.length > 0,
    async write() {
      const batch = [...waiting];
      const ours = await write(batch);
      waiting.splice(0, batch.length);
      return ours;
    },
    signal,
    onLost,
  });
  return {
    add(result) {
      waiting.push(result);
      writer.wake();
    },
    settle: () => writer.settle(),
  };
}
