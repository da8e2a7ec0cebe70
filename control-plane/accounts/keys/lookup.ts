import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import type { App } from "#control-plane/core/app.ts";
import type { KeyFinder, KeyFoundCallback } from "#control-plane/http/access/ports.ts";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import { digestKey, isWellFormedKey } from "#control-plane/accounts/keys/format.ts";
import type { Principal } from "#control-plane/http/access/principal.ts";

/** Finds the owner of a presented key. Caches owners and can forget them. */
export interface KeyLookup extends KeyFinder {
  /** Forgets one key, given by its digest. */
  forgetKey(digest: string): void;
  /** Forgets every key of an account. */
  forgetAccount(accountId: number): void;
  /** Forgets everything, e.g. after notifications may have been lost. */
  forgetAll(): void;
}

interface CachedOwner {
  readonly principal: Principal | null;
  readonly until: number;
}

/** Maximum number of digests in one statement. */
const MOST_DIGESTS = 500;
/** Maximum number of requests that wait for a look-up. */
const MOST_WAITING = 50_000;

/**
 * Creates a look-up with a bounded cache. Requests that wait at the same time share a statement. Unknown keys are
 * cached separately, so that they cannot evict valid ones. `load` loads principals by digest (hex) and rejects while
 * the database is away. `cachedMs` is at most 5,000: within that time a revoked key stops working everywhere.
 * `maxCached` bounds the cached keys, and the cached unknown keys.
 */
export function createKeyLookup({
  clock,
  load,
  cachedMs = 5_000,
  maxCached = 20_000,
}: Pick<App, "clock"> & {
  readonly load: (digests: readonly string[]) => Promise<ReadonlyMap<string, Principal>>;
  readonly cachedMs?: number;
  readonly maxCached?: number;
}): KeyLookup {
  const known = createLeastRecent<string, CachedOwner>(maxCached);
  const unknown = createLeastRecent<string, CachedOwner>(maxCached);
  const waiting = new Map<string, KeyFoundCallback[]>();
  let waitingCount = 0;
  // Number of calls that forgot something. A result loaded across such a call can be out of date and is not cached.
  let forgotten = 0;

  async function flush(): Promise<void> {
    const digests = [...waiting.keys()].slice(0, MOST_DIGESTS);
    if (digests.length === 0) return;
    const waiters = digests.map((digest) => take(digest));
    if (waiting.size > 0) pump.wake();
    const forgottenBefore = forgotten;
    let principals: ReadonlyMap<string, Principal>;
    try {
      principals = await load(digests);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      const late = [...waiting.keys()].flatMap((digest) => take(digest));
      for (const found of [...waiters.flat(), ...late]) found(failure, null);
      return;
    }
    const until = clock.monotonic() + cachedMs;
    digests.forEach((digest, index) => {
      const principal = principals.get(digest) ?? null;
      if (forgottenBefore === forgotten) (principal === null ? unknown : known).set(digest, { principal, until });
      for (const found of waiters[index] ?? []) found(null, principal);
    });
  }

  function take(digest: string): readonly KeyFoundCallback[] {
    const waiters = waiting.get(digest) ?? [];
    waiting.delete(digest);
    waitingCount -= waiters.length;
    return waiters;
  }

  const pump = createPump(flush);

  return {
    find(presented, found) {
      if (!isWellFormedKey(presented)) return found(null, null);
      const digest = digestKey(presented);
      const answer = known.get(digest) ?? unknown.get(digest);
      if (answer !== undefined && answer.until > clock.monotonic()) return found(null, answer.principal);
      if (waitingCount >= MOST_WAITING) return found(new DatabaseAway("too many keys wait to be looked up"), null);
      waitingCount += 1;
      const waiters = waiting.get(digest);
      if (waiters === undefined) waiting.set(digest, [found]);
      else waiters.push(found);
      pump.wake();
    },
    forgetKey(digest) {
      forgotten += 1;
      known.delete(digest);
    },
    forgetAccount(accountId) {
      forgotten += 1;
      for (const [digest, { principal }] of known.entries()) {
        if (principal?.accountId === accountId) known.delete(digest);
      }
    },
    forgetAll() {
      forgotten += 1;
      known.clear();
      unknown.clear();
    },
  };
}
