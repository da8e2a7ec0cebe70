import { isDatabaseAway } from "#control-plane/database/away.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { NewEvent } from "#control-plane/measurements/journal/store.ts";

/** Progress of one measurement kept as rows; what comes beyond is counted and dropped. */
const MOST_PROGRESS = 1_000;
/** Characters of progress, likewise. */
const MOST_PROGRESS_TEXT = 1_000_000;
const BATCH = 200;
const RETRY_MS = 500;

/** Writes what happens in a run: in order, in batches, through outages of the database. */
export interface Journal {
  add(event: NewEvent): void;
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
  let lost = false;
  let idle: (() => void)[] = [];

  const pump = createPump(async () => {
    while (!lost && (waiting.length > 0 || dropped > 0)) {
      const batch = waiting.slice(0, BATCH);
      const unsaid = dropped;
      try {
        lost = !(await write(batch, written, unsaid));
        written += batch.length;
        waiting.splice(0, batch.length);
        dropped -= unsaid;
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
    add(event) {
      if (event.event === "progress") {
        progress += 1;
        progressText += event.data.length;
        if (progress > MOST_PROGRESS || progressText > MOST_PROGRESS_TEXT) {
          dropped += 1;
          return;
        }
      }
      waiting.push(event);
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
