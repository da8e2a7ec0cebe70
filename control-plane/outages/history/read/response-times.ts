import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import type { Clock } from "#shared/time/clock.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { mergeHistograms, percentilesOf, type Percentiles } from "#control-plane/outages/history/histogram.ts";
import { HOUR_MS, hoursBetween, startOf } from "#control-plane/outages/history/period.ts";
import { countHistograms, readHistograms, type MonitorHistogram } from "#control-plane/outages/history/read/store.ts";
import type { Progress } from "#control-plane/outages/history/store.ts";

/** Percentiles of response times, with a cache of the hours that the roll-up does not have. */
interface ResponseTimes {
  /**
   * Returns the percentiles of successful checks in the running hour and the 24 hours before it. The part that the
   * roll-up does not have is at most a minute old.
   */
  read(
    sql: Queryable,
    monitorIds: readonly number[],
    now: Date,
    progress: Progress,
  ): Promise<ReadonlyMap<number, Percentiles>>;
}

/** How long the histogram of the running hour is used, in milliseconds. */
const FRESH_MS = 60_000;
const CACHED_MONITORS = 20_000;
const HOURS = 24;

/** The checks of one monitor in the hours from `openHour` on, encoded. */
interface Running {
  readonly openHour: number;
  readonly responseMs: Uint8Array;
}

const NONE = new Uint8Array(0);

/** Creates the percentiles of one replica. */
export function createResponseTimes(clock: Pick<Clock, "monotonic">): ResponseTimes {
  const cache = createLeastRecent<number, Running>(CACHED_MONITORS, {
    ttl: FRESH_MS,
    // Asks the clock each time instead of keeping its time for a real millisecond.
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  });

  /** Returns the histograms of the hours from `openHour` to the running one. */
  async function readRunning(
    sql: Queryable,
    monitorIds: readonly number[],
    openHour: number,
    running: number,
  ): Promise<readonly MonitorHistogram[]> {
    const missing = monitorIds.filter((id) => cache.get(id)?.openHour !== openHour);
    if (missing.length > 0) {
      const counted = await countHistograms(sql, missing, hoursBetween(openHour, running + HOUR_MS));
      const found = new Map(counted.map(({ monitorId, responseMs }) => [monitorId, responseMs]));
      for (const id of missing) cache.set(id, { openHour, responseMs: found.get(id) ?? NONE });
    }
    return monitorIds.map((monitorId) => ({ monitorId, responseMs: cache.peek(monitorId)?.responseMs ?? NONE }));
  }

  return {
    async read(sql, monitorIds, now, { openHour: nextHour }) {
      const running = startOf(now.getTime(), HOUR_MS);
      const first = running - HOURS * HOUR_MS;
      const openHour = Math.min(Math.max(nextHour, first), running);
      const parts = await Promise.all([
        readHistograms(sql, monitorIds, hoursBetween(first, openHour)),
        readRunning(sql, monitorIds, openHour, running),
      ]);
      const byMonitor = Map.groupBy(parts.flat(), ({ monitorId }) => monitorId);
      return new Map(
        monitorIds.map((id) => {
          const merged = mergeHistograms((byMonitor.get(id) ?? []).map(({ responseMs }) => responseMs));
          return [id, percentilesOf(merged)] as const;
        }),
      );
    },
  };
}
