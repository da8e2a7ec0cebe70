import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/clock.ts";
import { addressGroup } from "#control-plane/limits/address.ts";
import type { Ask, Count } from "#control-plane/limits/store.ts";
import type { Verdict } from "#control-plane/access/verdict.ts";
import { windowsAt, type Windows } from "#control-plane/access/windows.ts";

/** Requests a minute and a day of one client address. */
export interface AnonymousAllowance {
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
}

/** Limits of callers without an account, by client address (IPv6: /64). */
export interface AnonymousLimits {
  /** Counts one request; a refused one consumes nothing. */
  take(address: string): Verdict;
  /** Stops telling the other replicas. */
  close(): void;
}

/** What they stand on. */
interface AnonymousLimitsDeps {
  readonly clock: Clock;
  readonly allowance: AnonymousAllowance;
  /** The statement of limits/store.ts; rejects while the database is away. */
  readonly count: (windows: Windows, asks: readonly Ask[]) => Promise<readonly Count[]>;
}

interface Entry {
  readonly id: number;
  minute: number;
  minuteCount: number;
  day: number;
  dayCount: number;
  /** Admitted since the database was last told. */
  pending: number;
}

/** How soon replicas hear of each other's counts; a restart forgets no more than that. */
const EXCHANGE_MS = 500;
// Addresses remembered at once: about 20 MB.
const MOST_ADDRESSES = 100_000;
const MOST_AT_ONCE = 1_000;

/**
 * Decides in memory, so that an answer that is at hand costs no statement, and exchanges the counts with the other
 * replicas through the database a moment later: one address gets over its limit by at most what it asks of several
 * replicas within that moment. The database being away changes nothing here.
 */
export function createAnonymousLimits({ clock, allowance, count }: AnonymousLimitsDeps): AnonymousLimits {
  const { requestsPerMinute: minuteLimit, requestsPerDay: dayLimit } = allowance;
  const entries = new LRUCache<string, Entry>({ max: MOST_ADDRESSES });
  const dirty = new Set<Entry>();
  let timer: NodeJS.Timeout | null = null;

  function entryOf(address: string, { minute, day }: Windows): Entry {
    const group = addressGroup(address);
    let entry = entries.get(group);
    if (entry === undefined) {
      entry = { id: rowOf(group), minute, minuteCount: 0, day, dayCount: 0, pending: 0 };
      entries.set(group, entry);
    }
    roll(entry, { minute, day });
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
    const told = new Map(batch.map((entry) => [entry.id, { entry, requests: entry.pending }]));
    for (const entry of batch) {
      dirty.delete(entry);
      entry.pending = 0;
    }
    const asks = Array.from(told, ([accountId, { requests }]): Ask => {
      return { accountId, requests, countsDay: true, minuteLimit, dayLimit };
    });
    try {
      for (const row of await count(windowsAt(clock.now().getTime()), asks)) {
        const entry = told.get(row.accountId)?.entry;
        if (entry !== undefined) learn(entry, row);
      }
    } catch {
      // The database is away: what this replica has counted still holds here.
    }
    if (dirty.size > 0) schedule();
  }

  return {
    take(address) {
      const windows = windowsAt(clock.now().getTime());
      const entry = entryOf(address, windows);
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

function roll(entry: Entry, { minute, day }: Windows): void {
  if (entry.minute !== minute) {
    entry.minute = minute;
    entry.minuteCount = 0;
  }
  if (entry.day !== day) {
    entry.day = day;
    entry.dayCount = 0;
  }
}

/** All replicas' count, and what was admitted here while the statement was under way. */
function learn(entry: Entry, row: Count): void {
  if (row.minute === entry.minute) entry.minuteCount = Math.max(entry.minuteCount, row.minuteCount + entry.pending);
  if (row.day === entry.day) entry.dayCount = Math.max(entry.dayCount, row.dayCount + entry.pending);
}

/** An address' row among the accounts' counts: their ids are positive, these negative; 52 bits of a hash. */
function rowOf(group: string): number {
  return -1 - Number.parseInt(createHash("sha256").update(group).digest("hex").slice(0, 13), 16);
}
