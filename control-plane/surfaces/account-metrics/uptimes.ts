import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import type { Clock } from "#shared/time/clock.ts";
import type { UptimeFacts } from "#control-plane/surfaces/account-metrics/scraped.ts";
import type { HistoryMonitor } from "#control-plane/outages/history/ports.ts";

/** Reads uptimes of any number of monitors of one account. */
export type ReadUptimes = (monitors: readonly HistoryMonitor[]) => Promise<ReadonlyMap<number, UptimeFacts>>;

/** How long an uptime is used, in milliseconds: many scrapes read ninety days of history once. */
const FRESH_MS = 60_000;
const MOST_KEPT = 50_000;

/** A monitor with its present status. */
interface Observed extends HistoryMonitor {
  readonly status: string;
}

/** An uptime with the status that the monitor had when it was read. */
interface Kept {
  readonly uptime: UptimeFacts;
  readonly status: string;
}

/** Creates a function that reads uptimes which are at most a minute old, and not older than the present status. */
export function createUptimeCache(
  clock: Pick<Clock, "monotonic">,
  read: ReadUptimes,
): (monitors: readonly Observed[]) => Promise<ReadonlyMap<number, UptimeFacts>> {
  const cache = createLeastRecent<number, Kept>(MOST_KEPT, {
    ttl: FRESH_MS,
    // Asks the clock each time instead of keeping its time for a real millisecond.
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  });
  return async (monitors) => {
    const missing = monitors.filter(({ id, status }) => cache.get(id)?.status !== status);
    const found = missing.length === 0 ? new Map<number, UptimeFacts>() : await read(missing);
    for (const { id, status } of missing) {
      const uptime = found.get(id);
      if (uptime !== undefined) cache.set(id, { uptime, status });
    }
    return new Map(
      monitors.flatMap(({ id }) => {
        const uptime = found.get(id) ?? cache.peek(id)?.uptime;
        return uptime === undefined ? [] : [[id, uptime] as const];
      }),
    );
  };
}
