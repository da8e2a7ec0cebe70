import { createHash } from "node:crypto";
import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import type { App } from "#control-plane/core/app.ts";
import { addressGroup } from "#control-plane/http/limits/address.ts";
import type { RequestsToCount, RequestCount } from "#control-plane/http/limits/store.ts";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";
import { windowsAt, type Windows } from "#control-plane/http/access/windows.ts";

/** Maximum number of requests of one client address per minute and per day. */
export interface AnonymousAllowance {
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
}

/** Limits for callers without an account, by client address (IPv6: /64). */
export interface AnonymousLimits {
  /** Counts one request. A refused request is not counted. */
  take(address: string): LimitState;
  /** Stops the exchange of counts with other replicas. */
  close(): void;
}

interface Entry {
  readonly id: number;
  minute: number;
  minuteCount: number;
  day: number;
  dayCount: number;
  /** Requests admitted since the last exchange with the database. */
  pending: number;
}

/** Delay in milliseconds before counts are exchanged. A restart loses only the counts of that time. */
const EXCHANGE_MS = 500;
/** Maximum number of addresses in memory: about 20 MB. */
const MOST_ADDRESSES = 100_000;
/** Maximum number of addresses in one statement. */
const MOST_AT_ONCE = 1_000;

/**
 * Creates the limits of one replica. It decides in memory, so that a cached answer needs no statement, and exchanges
 * the counts with other replicas through the database a moment later. An address exceeds its limit at most by the
 * requests that it sends to several replicas within that moment. The limits also work while the database is away.
 * `count` runs the statement `countRequests` of limits/store.ts.
 */
export function createAnonymousLimits({
  clock,
  allowance,
  count,
}: Pick<App, "clock"> & {
  readonly allowance: AnonymousAllowance;
  readonly count: (windows: Windows, asks: readonly RequestsToCount[]) => Promise<readonly RequestCount[]>;
}): AnonymousLimits {
  const { requestsPerMinute: minuteLimit, requestsPerDay: dayLimit } = allowance;
  const entries = createLeastRecent<string, Entry>(MOST_ADDRESSES);
  const dirty = new Set<Entry>();
  let timer: NodeJS.Timeout | null = null;

  function currentEntry(address: string, { minute, day }: Windows): Entry {
    const group = addressGroup(address);
    let entry = entries.get(group);
    if (entry === undefined) {
      entry = { id: rowIdOf(group), minute, minuteCount: 0, day, dayCount: 0, pending: 0 };
      entries.set(group, entry);
    }
    startNewWindows(entry, { minute, day });
    return entry;
  }

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = null;
      void exchange();
    }, EXCHANGE_MS).unref();
  }

  async function exchange(): Promise<void> {
    const batch = Array.from(dirty).slice(0, MOST_AT_ONCE);
    const sent = new Map(batch.map((entry) => [entry.id, { entry, requests: entry.pending }]));
    for (const entry of batch) {
      dirty.delete(entry);
      entry.pending = 0;
    }
    const asks = Array.from(sent, ([accountId, { requests }]): RequestsToCount => {
      return { accountId, requests, countsDay: true, minuteLimit, dayLimit };
    });
    try {
      for (const row of await count(windowsAt(clock.now().getTime()), asks)) {
        const entry = sent.get(row.accountId)?.entry;
        if (entry !== undefined) mergeCounts(entry, row);
      }
    } catch {
      // If the database is away, the counts of this replica stay valid here.
    }
    if (dirty.size > 0) schedule();
  }

  return {
    take(address) {
      const windows = windowsAt(clock.now().getTime());
      const entry = currentEntry(address, windows);
      const denied = entry.minuteCount >= minuteLimit ? "minute" : entry.dayCount >= dayLimit ? "day" : null;
      if (denied === null) {
        entry.minuteCount += 1;
        entry.dayCount += 1;
        entry.pending += 1;
        dirty.add(entry);
        schedule();
      }
      return {
        denied,
        minuteLimit,
        minuteRemaining: Math.max(0, minuteLimit - entry.minuteCount),
        minute: windows.minute,
        dayLimit,
        dayRemaining: Math.max(0, dayLimit - entry.dayCount),
        day: windows.day,
      };
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function startNewWindows(entry: Entry, { minute, day }: Windows): void {
  if (entry.minute !== minute) {
    entry.minute = minute;
    entry.minuteCount = 0;
  }
  if (entry.day !== day) {
    entry.day = day;
    entry.dayCount = 0;
  }
}

/** Merges the count of all replicas with the requests that were admitted here while the statement was running. */
function mergeCounts(entry: Entry, row: RequestCount): void {
  if (row.minute === entry.minute) entry.minuteCount = Math.max(entry.minuteCount, row.minuteCount + entry.pending);
  if (row.day === entry.day) entry.dayCount = Math.max(entry.dayCount, row.dayCount + entry.pending);
}

/**
 * Returns the row id of an address in the table of account counts: negative, 52 bits of a hash. Accounts' ids are
 * positive.
 */
function rowIdOf(group: string): number {
  return -1 - Number.parseInt(createHash("sha256").update(group).digest("hex").slice(0, 13), 16);
}
