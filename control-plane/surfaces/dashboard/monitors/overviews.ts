import type { Clock } from "#shared/time/clock.ts";
import type { Strip } from "#control-plane/core/charts/bars.ts";
import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import { createStrips } from "#control-plane/surfaces/dashboard/monitors/strips.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import { createSharedCache } from "#control-plane/core/shared-cache.ts";

/** How long a reading of an account's monitors serves all who look at it, if nobody changes them, milliseconds. */
const SHARED_MS = 5_000;
/** Accounts whose monitors are held at once, and the monitors of all of them. */
const MOST_ACCOUNTS = 1_000;
const MOST_MONITORS = 200_000;

/** What lists of monitors show, read once for all views within some seconds, however many tabs are open. */
export interface Overviews {
  /**
   * Returns the monitors of an account, newest first, with all that was written before, at any replica. `isRefresh`: a
   * view that is open already can do with what was read some seconds ago, without a statement of its own. Default: false.
   */
  of(accountId: number, how?: { readonly isRefresh?: boolean }): Promise<readonly ListedMonitor[]>;
  /** Returns strips of the last 24 hours of monitors of an account by id. */
  stripsOf(accountId: number, ids: readonly number[]): Promise<ReadonlyMap<number, Strip>>;
}

/** A reading of an account's monitors. */
interface Reading {
  readonly accountId: number;
  /** Id of the newest change of the account before it was read. */
  readonly newest: number;
  readonly rows: readonly ListedMonitor[];
}

/** Creates the shared readings of one replica. */
export function createOverviews({
  clock,
  monitors,
  history,
  changes,
}: {
  readonly clock: Clock;
  readonly monitors: Pick<Monitors, "overview">;
  readonly history: Pick<History, "halfHours">;
  readonly changes: Pick<Changes, "newest">;
}): Overviews {
  const lists = createSharedCache<Reading>({
    clock,
    ttlMs: SHARED_MS,
    most: MOST_ACCOUNTS,
    mostSize: MOST_MONITORS,
    sizeOf: ({ rows }) => rows.length,
    mostLoads: 2,
    mostWaiting: 100,
    async load(name) {
      const accountId = Number(name);
      const newest = await changes.newest(accountId);
      return { accountId, newest, rows: await monitors.overview(accountId) };
    },
  });
  const of = async (accountId: number, { isRefresh = false } = {}) => {
    const known = await lists.get(String(accountId));
    // Every write is in the log of changes, also one with a key or of another replica: they show without delay.
    if (isRefresh || known === null || known.newest >= (await changes.newest(accountId))) return known?.rows ?? [];
    lists.forget((found) => found?.accountId === accountId);
    return (await lists.get(String(accountId)))?.rows ?? [];
  };
  const strips = createStrips({ clock, history, monitorsOf: (accountId) => of(accountId, { isRefresh: true }) });
  return {
    of,
    stripsOf: (accountId, ids) => strips.of(accountId, ids),
  };
}
