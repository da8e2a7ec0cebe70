import type { Clock } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { readExpiryTimes, type ExpiryTimes } from "#control-plane/expiry/shown/times.ts";
import { readPingTimes, type PingTimes } from "#control-plane/heartbeats/ping-times.ts";
import { readSnapshots } from "#control-plane/monitors/snapshots/snapshots.ts";
import { renderScrape } from "#control-plane/surfaces/account-metrics/render.ts";
import { createUptimeCache, type ReadUptimes } from "#control-plane/surfaces/account-metrics/uptimes.ts";

/** Returns the metrics of an account's monitors, of those with this tag if one is given, as text. */
export type ScrapeAccount = (accountId: number, tag: string | null) => Promise<string>;

/** Dependencies of scrapes. */
interface ScrapeDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly readUptimes: ReadUptimes;
}

/** Creates the scrapes of accounts. Each takes a number of statements that does not depend on the number of monitors. */
export function createScrapes({ sql, clock, readUptimes }: ScrapeDeps): ScrapeAccount {
  const uptimesOf = createUptimeCache(clock, readUptimes);
  return async (accountId, tag) => {
    const monitors = await readSnapshots(sql, accountId, tag, clock.now());
    const heartbeats = monitors.filter(({ checkType }) => checkType === "heartbeat").map(({ id }) => id);
    const ids = monitors.map(({ id }) => id);
    const [uptimes, pings, expiries] = await Promise.all([
      monitors.length === 0 ? new Map() : uptimesOf(monitors.map((monitor) => ({ ...monitor, accountId }))),
      heartbeats.length === 0 ? new Map<number, PingTimes>() : readPingTimes(sql, heartbeats),
      ids.length === 0 ? new Map<number, ExpiryTimes>() : readExpiryTimes(sql, ids),
    ]);
    const scraped = monitors.map((monitor) => ({
      ...monitor,
      uptime: uptimes.get(monitor.id) ?? null,
      pings: pings.get(monitor.id) ?? null,
      expiry: expiries.get(monitor.id) ?? null,
    }));
    return renderScrape(scraped, clock.now().getTime());
  };
}
