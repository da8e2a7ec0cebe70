import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createPump } from "#control-plane/core/database/pump.ts";

/** Writes what waits to the database, in one batch after the other. */
interface BatchWriter {
  /** Starts writing soon. Call it when there is something to write. */
  wake(): void;
  /** Resolves when nothing waits any more. Bound it with waitAtMost: the database can be away for long. */
  settle(): Promise<void>;
}

/** What a writer needs of the owner of the queue. An item waits until `write` or `refuse` removes it from there. */
interface BatchWriterOptions<T> {
  /** Returns up to `most` of the items that wait, the first ones first; an item of the last batch if it still waits. */
  readonly take: (most: number) => readonly T[];
  /**
   * Writes items and removes those that are written. After a rejection nothing is known about the others: what was
   * committed before the connection broke is written again, and has to be recognised.
   */
  readonly write: (items: readonly T[]) => Promise<void>;
  /** Removes an item that the database refuses even alone, or replaces it with one that is tried again. Must not fail. */
  readonly refuse: (item: T, error: unknown) => void | Promise<void>;
  /** Pause before a batch is written again, in milliseconds. */
  readonly retryMs: number;
  /** What the log says about a batch that is written again. */
  readonly retryLine: string;
  readonly log: Pick<Logger, "debug">;
}

/** Maximum number of items in one batch. */
const MOST_AT_ONCE = 500;

/**
 * Creates a writer. It never writes two batches at the same time, and what arrives during a write is part of the next
 * batch. While the database is away it tries again, and loses nothing. If the database refuses a batch, smaller ones
 * follow until the item is alone that is the reason: the others are written.
 */
export function createBatchWriter<T>(options: BatchWriterOptions<T>): BatchWriter {
  const { take, write, refuse, retryMs, retryLine, log } = options;
  const settled: (() => void)[] = [];
  let size = MOST_AT_ONCE;

  const pump = createPump(async () => {
    const batch = take(size);
    const [first] = batch;
    if (first === undefined) {
      for (const done of settled.splice(0)) done();
      return;
    }
    try {
      await write(batch);
      size = Math.min(2 * size, MOST_AT_ONCE);
    } catch (error) {
      if (isPassing(error)) {
        log.debug({ err: error }, retryLine);
        await sleep(retryMs, undefined, { ref: false });
      } else if (batch.length > 1) size = Math.ceil(batch.length / 2);
      else await refuse(first, error);
    }
    pump.wake();
  });

  return {
    wake: () => pump.wake(),
    settle: () =>
      new Promise((resolve) => {
        settled.push(resolve);
        pump.wake();
      }),
  };
}

/** PostgreSQL, appendix A: 40 transaction rollback (deadlock, serialization), 55P03 lock not available. */
const PASSING_CODES = /^(?:40...|55P03)$/;

/** Reports whether the same statement can succeed later: the error says nothing about what was to be written. */
function isPassing(error: unknown): boolean {
  if (isDatabaseAway(error)) return true;
  return error instanceof Error && "code" in error && typeof error.code === "string" && PASSING_CODES.test(error.code);
}
