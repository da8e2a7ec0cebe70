import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/clock.ts";
import type { Found, KeyFinder } from "#control-plane/access/ports.ts";
import { DatabaseAway } from "#control-plane/database/database-away.ts";
import { createPump } from "#control-plane/database/pump.ts";
import { digestKey, isWellFormedKey } from "#control-plane/keys/format.ts";
import type { Principal } from "#control-plane/access/principal.ts";

/** Finds the owner of a presented key, and forgets what it found. */
export interface KeyLookup extends KeyFinder {
  /** Forgets one key, by the digest of it. */
  forgetKey(digest: string): void;
  /** Forgets every key of an account. */
  forgetAccount(accountId: number): void;
  /** Forgets everything, e.g. after messages may have been lost. */
  forgetAll(): void;
}

/** What the lookup stands on. */
interface KeyLookupDeps {
  readonly clock: Clock;
  /** Principals by digest (hex); rejects when the database is away. */
  readonly load: (digests: readonly string[]) => Promise<ReadonlyMap<string, Principal>>;
  /** Milliseconds an answer is kept, at most 5,000: a revoked key stops working within that on every replica. */
  readonly believedMs?: number;
  /** Keys remembered at once. */
  readonly remembered?: number;
}

interface Remembered {
  readonly principal: Principal | null;
  readonly until: number;
}

const MOST_DIGESTS = 500;
const MOST_WAITING = 50_000;

/** A bounded cache before coalesced look-ups. Wrong keys are remembered too, apart, so that they cannot push out right ones. */
export function createKeyLookup({ clock, load, believedMs = 5_000, remembered = 20_000 }: KeyLookupDeps): KeyLookup {
  const known = new LRUCache<string, Remembered>({ max: remembered });
  const unknown = new LRUCache<string, Remembered>({ max: remembered });
  const waiting = new Map<string, Found[]>();
  let waitingCount = 0;
  // Rises with everything forgotten: an answer asked for before that may be out of date and is not remembered.
  let forgotten = 0;

  async function flush(): Promise<void> {
    const digests = [...waiting.keys()].slice(0, MOST_DIGESTS);
    if (digests.length === 0) return;
    const waiters = digests.map((digest) => take(digest));
    if (waiting.size > 0) pump.wake();
    const asked = forgotten;
    let principals: ReadonlyMap<string, Principal>;
    try {
      principals = await load(digests);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      const late = [...waiting.keys()].flatMap((digest) => take(digest));
      for (const found of [...waiters.flat(), ...late]) found(failure, null);
      return;
    }
    const until = clock.monotonic() + believedMs;
    digests.forEach((digest, index) => {
      const principal = principals.get(digest) ?? null;
      if (asked === forgotten) (principal === null ? unknown : known).set(digest, { principal, until });
      for (const found of waiters[index] ?? []) found(null, principal);
    });
  }

  function take(digest: string): readonly Found[] {
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
