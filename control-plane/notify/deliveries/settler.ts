import type { Logger } from "pino";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import { settleAndNote, type NoteMailed } from "#control-plane/notify/deliveries/notes.ts";
import type { SettledAttempt } from "#control-plane/notify/deliveries/store.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";

/** Stores the ends of attempts, several in one statement. */
export interface Settler {
  /** Stores an end soon. Calls `onStored` when it is stored. */
  add(settled: SettledAttempt, onStored: () => void): void;
  /** Waits until everything is stored, for at most `ms` milliseconds, and stops. */
  stop(ms: number): Promise<void>;
}

/** Pause before the next try while the database is away, milliseconds. */
const RETRY_MS = 500;
/** Maximum number of attempts in one statement. */
const MOST_AT_ONCE = 500;

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
  let waiting: { settled: SettledAttempt; onStored: () => void }[] = [];
  let isStopped = false;
  const idle = new Set<() => void>();

  const pump = createPump(async () => {
    const batch = waiting.slice(0, MOST_AT_ONCE);
    if (batch.length > 0) {
      try {
        await settleAndNote(
          sql,
          batch.map(({ settled }) => settled),
          noteMailed,
        );
      } catch (error) {
        log.debug({ err: error }, "deliveries: results are not stored yet; trying again");
        if (!isStopped) setTimeout(() => pump.wake(), RETRY_MS).unref();
        return;
      }
      waiting = waiting.slice(batch.length);
      for (const { onStored } of batch) onStored();
    }
    if (waiting.length > 0) pump.wake();
    else for (const resolve of idle) resolve();
  });

  return {
    add(settled, onStored) {
      waiting.push({ settled, onStored });
      pump.wake();
    },
    async stop(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      idle.add(resolve);
      pump.wake();
      await waitAtMost(ms, promise, undefined);
      isStopped = true;
    },
  };
}
