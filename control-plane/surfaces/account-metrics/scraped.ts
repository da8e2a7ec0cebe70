import type { MonitorSnapshot } from "#control-plane/watching/checking/snapshots/snapshots.ts";

/** Uptime percentages by window, 0 to 100; null: no time is known. */
export interface UptimeFacts {
  readonly d1: number | null;
  readonly d7: number | null;
  readonly d30: number | null;
  readonly d90: number | null;
}

/** When the pings of a heartbeat came and are expected. */
interface PingFacts {
  readonly lastPingAt: Date | null;
  readonly deadlineAt: Date | null;
}

/** When something ends that a monitor watches; null: not watched, or not known. */
interface ExpiryEnds {
  readonly certificate: Date | null;
  readonly domain: Date | null;
}

/** A monitor with everything that a scrape shows of it. */
export interface ScrapedMonitor extends MonitorSnapshot {
  readonly uptime: UptimeFacts | null;
  /** null if it is no heartbeat. */
  readonly pings: PingFacts | null;
  readonly expiry: ExpiryEnds | null;
}

/** What a scrape shows. */
export interface Scraped {
  /** By id. */
  readonly monitors: readonly ScrapedMonitor[];
  /** Number of monitors that are left out, because the scrape would have too many samples with them. */
  readonly omitted: number;
}
