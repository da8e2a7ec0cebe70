import type { App } from "#control-plane/core/app.ts";
import { deleteOutages, noteLiveness } from "#control-plane/watching/heartbeats/liveness-store.ts";

/** Notes in the database that the service can receive pings, so that times in which it could not are known. */
export interface Liveness {
  /** Notes it, unless this replica did less than 5 s ago. */
  note(): Promise<void>;
}

const EVERY_MS = 5_000;
/** A longer time without a note of any replica is an outage, in milliseconds. */
const LONGEST_GAP_MS = 15_000;
/** How long outages are kept, in milliseconds: longer than any deadline waits for its sweep. */
const KEPT_MS = 30 * 86_400_000;
const DELETE_EVERY_MS = 3_600_000;

/**
 * Creates the notes of one replica. A rest is no outage: it begins only if no heartbeat is active at any replica, and ends
 * before one becomes active.
 */
export function createLiveness({ sql, clock, timers }: Pick<App, "sql" | "clock" | "timers">): Liveness {
  let hasRested = false;
  timers.onRest(() => (hasRested = true));
  let notedAt = -Infinity;
  let notedTime = -Infinity;
  let deletedAt = -Infinity;
  return {
    async note() {
      const at = clock.monotonic();
      const now = clock.now();
      // The monotonic clock of a machine that was suspended has not moved.
      const isNoted = at - notedAt < EVERY_MS && Math.abs(now.getTime() - notedTime) < EVERY_MS;
      // A rest ends with a note: an outage can begin right after it.
      if (isNoted && !hasRested) return;
      const longestGapMs = hasRested ? null : LONGEST_GAP_MS;
      hasRested = false;
      await noteLiveness(sql, now, longestGapMs);
      notedAt = at;
      notedTime = now.getTime();
      if (at - deletedAt < DELETE_EVERY_MS) return;
      await deleteOutages(sql, new Date(clock.now().getTime() - KEPT_MS));
      deletedAt = at;
    },
  };
}
