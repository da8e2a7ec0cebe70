import type { Logger } from "pino";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { UNRECORDABLE } from "#control-plane/watching/checking/watch/observe.ts";
import type { Finished } from "#control-plane/watching/checking/watch/plan-record.ts";

/** What recording one by one needs of the recorder. */
interface ApartDeps {
  readonly log: Pick<Logger, "error">;
  /** Reports whether an observation is neither recorded nor dropped yet. */
  readonly isWaiting: (finished: Finished) => boolean;
  /** Records one observation. */
  readonly record: (finished: Finished) => Promise<void>;
  /** Drops one observation and gives its slot back. */
  readonly drop: (finished: Finished) => Promise<void>;
}

/** PostgreSQL, appendix A: 40 transaction rollback (deadlock, serialization), 55P03 lock not available. */
const PASSING_CODES = /^(?:40...|55P03)$/;

/** Reports whether the same statement can succeed later: the error says nothing about what was to be recorded. */
export function isPassing(error: unknown): boolean {
  if (isDatabaseAway(error)) return true;
  return error instanceof Error && "code" in error && typeof error.code === "string" && PASSING_CODES.test(error.code);
}

/**
 * Records observations one by one, after they could not be recorded together: one that the database refuses must not hold
 * back those of other accounts. Its check counts as unknown instead; if that is refused, too, it is dropped. Rejects with
 * a passing error; what is still waiting is tried again later.
 */
export async function recordApart(deps: ApartDeps, batch: readonly Finished[]): Promise<void> {
  for (const finished of batch) {
    if (!deps.isWaiting(finished)) continue;
    if (await isRecorded(deps, finished, "the check counts as unknown")) continue;
    finished.finding = UNRECORDABLE;
    if (await isRecorded(deps, finished, "it is dropped")) continue;
    await deps.drop(finished);
  }
}

async function isRecorded({ log, record }: ApartDeps, finished: Finished, then: string): Promise<boolean> {
  try {
    await record(finished);
    return true;
  } catch (error) {
    if (isPassing(error)) throw error;
    const { monitorId: monitor, location } = finished.slot;
    log.error({ err: error, monitor, location }, `monitors: an observation cannot be recorded; ${then}`);
    return false;
  }
}
