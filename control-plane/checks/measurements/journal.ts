import { MOST_PROGRESS } from "#shared/protocol/wire.ts";
import { createRunWriter } from "#control-plane/checks/jobs/durable-run/writer.ts";
import type { Writing } from "#control-plane/checks/jobs/durable-run/work.ts";
import type { NewEvent } from "#control-plane/checks/measurements/journal-store.ts";

/** Maximum number of events in one write. */
const BATCH = 200;

/** Stores the events of an attempt in order, in batches. Waits while the database is away. */
export interface Journal {
  add(event: NewEvent): void;
  /** Counts a progress event that is not stored. */
  drop(): void;
  /** Resolves when everything is written; to false if the measurement no longer belongs to this claim. */
  settle(): Promise<boolean>;
}

/** What a journal needs. */
interface JournalOptions extends Writing {
  /** Writes a batch after the first `after` events. Returns false if refused. Can reject while the database is away. */
  readonly write: (events: readonly NewEvent[], after: number, dropped: number) => Promise<boolean>;
  /** Number of events that are already stored. */
  readonly after: number;
}

/** Creates an empty journal for one attempt. */
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
      const unwritten = dropped;
      const ours = await write(batch, written, unwritten);
      written += batch.length;
      waiting.splice(0, batch.length);
      dropped -= unwritten;
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
        // One measurement stores as much progress as one job is allowed to send.
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
