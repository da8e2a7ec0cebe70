import { createRunWriter } from "#control-plane/checks/jobs/durable-run/writer.ts";
import type { Writing } from "#control-plane/checks/jobs/durable-run/work.ts";

/** Stores the results of an attempt as they arrive, several in one statement. */
export interface Recorder<R> {
  add(result: R): void;
  /** Resolves when everything is stored; to false if the run no longer belongs to this claim. */
  settle(): Promise<boolean>;
}

/** Options of a recorder. */
interface RecorderOptions<R> extends Writing {
  /** Stores results, each once. Returns false if the store refused them. Can reject while the database is away. */
  readonly write: (results: readonly R[]) => Promise<boolean>;
}

/** Creates an empty recorder for one attempt. */
export function createRecorder<R>({ write, ...writing }: RecorderOptions<R>): Recorder<R> {
  const waiting: R[] = [];
  const writer = createRunWriter({
    ...writing,
    hasMore: () => waiting.length > 0,
    async write() {
      const batch = [...waiting];
      const isStored = await write(batch);
      waiting.splice(0, batch.length);
      return isStored;
    },
  });
  return {
    add(result) {
      waiting.push(result);
      writer.wake();
    },
    settle: () => writer.settle(),
  };
}
