import type { App } from "#control-plane/core/app.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { readEnded, type EndedMaintenance } from "#control-plane/outages/maintenance/occurrences/store.ts";

const LOOK_MS = 5_000;
/** How far each look goes back beyond the one before, in milliseconds: a write can commit after the time that it names. */
const OVERLAP_MS = 15_000;
/** How far the first look goes back, in milliseconds: what ended while no replica ran. */
const FIRST_MS = 3_600_000;

/**
 * Starts to look for maintenance that has ended, so that people hear at once of what is still down, and not at its next
 * planned check. Every replica looks. `checkDown` has the covered monitors checked that are down and were not checked
 * since; calling it twice does no harm.
 */
export function startEndings({
  sql,
  clock,
  log,
  timers,
  checkDown,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & {
  readonly checkDown: (sql: Sql, ended: EndedMaintenance, now: Date) => Promise<void>;
}): { stop(): void } {
  let lookedTo = clock.now().getTime() - FIRST_MS;
  return startUpkeep({
    everyMs: LOOK_MS,
    name: "maintenance: the checks after it",
    log,
    timers,
    async round() {
      const now = clock.now();
      for (const ended of await readEnded(sql, new Date(lookedTo - OVERLAP_MS), now)) await checkDown(sql, ended, now);
      lookedTo = now.getTime();
    },
  });
}
