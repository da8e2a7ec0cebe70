import { LRUCache } from "lru-cache";
import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import type { Clock } from "#shared/time/clock.ts";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";

/** Values by name, loaded when they are asked for. */
interface SharedCache<V extends object> {
  /**
   * Returns the value of a name; null if there is none. Requests at the same time share a load. Rejects with
   * DatabaseAway if too many loads wait and the name is not known to have a value.
   */
  get(name: string): Promise<V | null>;
  /**
   * Forgets the values that match; if null matches, the names without a value. A request after this call never gets what
   * was read before it, also not from a load that was under way.
   */
  forget(matches: (value: V | null) => boolean): void;
}

/** Options of a cache. */
interface SharedCacheOptions<V extends object> {
  readonly clock: Pick<Clock, "monotonic">;
  /** Milliseconds from the beginning of a load for which its value is used. */
  readonly ttlMs: number;
  /** Maximum number of values, and of names without a value. */
  readonly most: number;
  /** Maximum sum of the sizes of the values. */
  readonly mostSize: number;
  readonly sizeOf: (value: V) => number;
  /** Maximum number of loads at the same time; others wait. */
  readonly mostLoads: number;
  /** Maximum number of loads that wait, without those of names that had a value at their last load. */
  readonly mostWaiting: number;
  readonly load: (name: string) => Promise<V | null>;
}

interface Found<V> {
  readonly value: V;
  readonly until: number;
}

/** A load that is under way, with what was forgotten since it began. */
interface Load<V> {
  readonly value: Promise<V | null>;
  forgotten: ((value: V | null) => boolean)[];
}

/** Number of times that a value is loaded if it is forgotten during each load. */
const MOST_ATTEMPTS = 3;

/**
 * Creates a bounded cache. Clients choose names: names without a value are kept apart, so that they cannot evict values,
 * and a name that had a value at its last load does not wait behind others and is never refused.
 */
export function createSharedCache<V extends object>(options: SharedCacheOptions<V>): SharedCache<V> {
  const { clock, ttlMs, most, mostSize, sizeOf, mostLoads, mostWaiting, load } = options;
  // Each takes at least its share, so that there are at most `most` (least-recent.ts says why `max` is not used).
  const least = Math.ceil(mostSize / most);
  const found = new LRUCache<string, Found<V>>({
    maxSize: mostSize,
    sizeCalculation: ({ value }) => Math.max(least, sizeOf(value)),
  });
  const absent = createLeastRecent<string, { readonly until: number }>(most);
  /** Names that had a value at their last load; also those whose value was forgotten. */
  const proven = createLeastRecent<string, true>(most);
  const loading = new Map<string, Load<V>>();
  const waiting: { readonly proven: (() => void)[]; readonly others: (() => void)[] } = { proven: [], others: [] };
  let loads = 0;

  /** Loads until a value is not forgotten during its load. After some attempts it returns the value without keeping it. */
  async function read(name: string): Promise<V | null> {
    for (let attempt = 1; ; attempt += 1) {
      const current = loading.get(name);
      if (current !== undefined) current.forgotten = [];
      const until = clock.monotonic() + ttlMs;
      const value = await load(name);
      const isForgotten = current?.forgotten.some((matches) => matches(value)) === true;
      if (value === null) proven.delete(name);
      else proven.set(name, true);
      if (!isForgotten) {
        if (value === null) absent.set(name, { until });
        else found.set(name, { value, until });
      }
      if (!isForgotten || attempt === MOST_ATTEMPTS) return value;
    }
  }

  /** Reads a value as soon as fewer loads than allowed are under way. */
  async function readInTurn(name: string): Promise<V | null> {
    const queue = proven.get(name) === true ? waiting.proven : waiting.others;
    if (loads < mostLoads) loads += 1;
    // The load that ends next hands its turn over.
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await read(name);
    } finally {
      loading.delete(name);
      const next = waiting.proven.shift() ?? waiting.others.shift();
      if (next === undefined) loads -= 1;
      else next();
    }
  }

  return {
    get(name) {
      const now = clock.monotonic();
      const known = found.get(name);
      if (known !== undefined && known.until > now) return Promise.resolve(known.value);
      if ((absent.get(name)?.until ?? now) > now) return Promise.resolve(null);
      const running = loading.get(name);
      if (running !== undefined) return running.value;
      if (loading.size >= mostLoads + mostWaiting && !proven.has(name)) {
        return Promise.reject(new DatabaseAway("too many names wait to be looked up"));
      }
      // The load begins in a later turn of the event loop, when its entry is in the map.
      const value = Promise.resolve().then(() => readInTurn(name));
      loading.set(name, { value, forgotten: [] });
      return value;
    },
    forget(matches) {
      for (const [name, { value }] of found.entries()) if (matches(value)) found.delete(name);
      if (matches(null)) absent.clear();
      for (const running of loading.values()) running.forgotten.push(matches);
    },
  };
}
