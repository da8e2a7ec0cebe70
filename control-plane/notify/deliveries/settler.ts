import type { Logger } from "pino";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { createBatchWriter } from "#control-plane/core/database/batch-writer.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { settleAndNote, type NoteMailed } from "#control-plane/notify/deliveries/notes.ts";
import type { SettledAttempt } from "#control-plane/notify/deliveries/store.ts";

/** Stores the ends of attempts, several in one statement. */
export interface Settler {
  /** Stores an end soon. Calls `onEnd` when it is stored, or is refused by the database: the attempt then counts as lost. */
  add(settled: SettledAttempt, onEnd: () => void): void;
  /** Waits until everything is stored, for at most `ms` milliseconds. */
  stop(ms: number): Promise<void>;
}

/** Pause before the next try while the database is away, milliseconds. */
const RETRY_MS = 500;

/**
 * Creates a settler. It keeps trying while the database is away: a result that is never stored means that a message is
 * sent again.
 */
export function createSettler({
  sql,
  log,
  noteMailed,
}: {
  readonly sql: Sql;
  readonly log: Logger;
  readonly noteMailed: NoteMailed;
}): Settler {
  const waiting: { readonly settled: SettledAttempt; readonly onEnd: () => void }[] = [];

  function endFirst(count: number): void {
    for (const { onEnd } of waiting.splice(0, count)) onEnd();
  }

  const writer = createBatchWriter<SettledAttempt>({
    take: (most) => waiting.slice(0, most).map(({ settled }) => settled),
    async write(batch) {
      await settleAndNote(sql, batch, noteMailed);
      endFirst(batch.length);
    },
    refuse({ id, channel }, error) {
      log.error({ err: error, channel, delivery_id: id }, "deliveries: a result cannot be stored; its attempt is lost");
      endFirst(1);
    },
    retryMs: RETRY_MS,
    retryLine: "deliveries: results are not stored yet; trying again",
    log,
  });

  return {
    add(settled, onEnd) {
      waiting.push({ settled, onEnd });
      writer.wake();
    },
    stop: (ms) => waitAtMost(ms, writer.settle(), undefined),
  };
}
