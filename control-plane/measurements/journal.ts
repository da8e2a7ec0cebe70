import { MOST_PROGRESS } from "#shared/wire.ts";
import { createRunWriter } from "#control-plane/jobs/run-writer.ts";
import type { NewEvent } from "#control-plane/measurements/journal/store.ts";

const BATCH = 200;

/** Writes what happens in a run: in order, in batches, through outages of the database. */
export interface Journal {
  add(event: NewEvent): void;
  /** Counts a progress event that came and was not kept. */
  drop(): void;
  /** Resolves when all is written; false where the measurement is no longer this run's. */
  settle(): Promise<boolean>;
}

/** What a journal stands on. */
export interface JournalOptions {
  /** Writes a batch that follows on `after` events; false: not this run's any more. May reject while the database is away. */
  readonly write: (events: readonly NewEvent[], after: number, dropped: number) => Promise<boolean>;
  /** Events that exist already. */
  readonly after: number;
  /** Gives up waiting for the database. */
  readonly signal: AbortSignal;
  /** The measurement was cancelled, erased, or taken over. */
  readonly onLost: () => void;
}

/** An empty journal of one run. */
export function createJournal({ write, signal, onLost, ...options }: JournalOptions): Journal {
  let written = options.after;
  const waiting: NewEvent[] = [];
  let progress = options.after;
  let progressText = 0;
  let dropped = 0;
  const writer = createRunWriter({
    hasMore: () => waiting.length > 0 || dropped > 0,
    async write() {
      const batch = waiting.slice(0, BATCH);
      const unsaid = dropped;
      const ours = await write(batch, written, unsaid);
      written += batch.length;
      waiting.splice(0, batch.length);
      dropped -= unsaid;
      return ours;
    },
    signal,
    onLost,
  });

  return {
    add(event) {
      if (event.event === "progress") {
        progress += 1;
        progressText += event.data.length;
        // Of one measurement no more is kept than counts of one job.
        if (progress > MOST_PROGRESS.events || progressText > MOST_PROGRESS.characters) {
          dropped += 1;
          return;
        }
      }
      waiting.push(event);
      writer.wake();
    },
    drop() {
      dropped += 1;
    },
    settle: () => writer.settle(),
  };
}
