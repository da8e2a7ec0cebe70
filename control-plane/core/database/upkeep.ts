import type { Logger } from "pino";
import { hasErrorCode } from "#shared/contracts/error-code.ts";
import type { Timers } from "#control-plane/core/timers.ts";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";

/** Housekeeping that repeats until it is stopped. */
interface Upkeep {
  /** Starts no further rounds. Does not wait for a running round. */
  stop(): void;
}

/** Options of repeated housekeeping. */
interface UpkeepOptions {
  /** Milliseconds between the starts of two rounds. */
  readonly everyMs: number;
  /** Runs one round. Every replica runs it, so two rounds must be able to run at the same time on one database. */
  readonly round: () => Promise<void>;
  /** What it is, for the log, such as "mail: housekeeping". */
  readonly name: string;
  readonly log: Pick<Logger, "debug" | "error">;
  readonly timers: Timers;
}

/** PostgreSQL, appendix A: a lock was not available within its time limit. A deadlock is a bug. */
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Starts rounds of housekeeping in this process. A round is skipped if the previous one is still running. The next round
 * does the work of a failed one; a failure that is not due to the database being away or busy is a bug, and is logged.
 */
export function startUpkeep({ everyMs, round, name, log, timers }: UpkeepOptions): Upkeep {
  let isRunning = false;
  return timers.repeat(everyMs, async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await round();
    } catch (error) {
      logFailure(log, name, error);
    } finally {
      isRunning = false;
    }
  });
}

/** Logs the failure of a round of housekeeping. */
export function logFailure(log: UpkeepOptions["log"], name: string, error: unknown): void {
  const isExpected = isDatabaseAway(error) || hasErrorCode(error, LOCK_NOT_AVAILABLE);
  log[isExpected ? "debug" : "error"]({ err: error }, `${name} failed; it runs again later`);
}

/** Deletes rows with one short statement after the other, until one deletes fewer than `limit` rows. */
export async function deleteInSteps(limit: number, deleteUpTo: (limit: number) => Promise<number>): Promise<void> {
  while ((await deleteUpTo(limit)) === limit);
}
