import { LRUCache } from "lru-cache";
import { literalFamily } from "#shared/egress/addresses.ts";
import type { Clock } from "#shared/clock.ts";
import type { Observation } from "#shared/tools/define.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import {
  deleteObservations,
  exportObservations,
  noteObservations,
  pruneObservations,
  readObservations,
  type NewObservation,
  type SeenName,
} from "#control-plane/observations/store.ts";

/** What checks have seen: which names stand at which addresses. */
export interface Observations {
  /** Notes what a check of this account (null: of nobody's) has seen; soon, and never at the cost of its answer. */
  note(accountId: number | null, seen: readonly Observation[]): void;
  /** Names seen at an address by everybody's checks and by this account's, the newest first. */
  at(ip: string, accountId: number | null): Promise<readonly SeenName[]>;
  forget(sql: Queryable, accountId: number): Promise<void>;
  export(sql: Queryable, accountId: number): Promise<unknown>;
  close(): void;
}

/** Callers without an account. */
const EVERYBODY = 0;
/** The same is not written again so soon. */
const AGAIN_MS = 3_600_000;
const MOST_REMEMBERED = 20_000;
const MOST_WAITING = 5_000;
const BATCH = 500;
/** Names of one check: a hostile chain of redirects or a long list of records shall not fill the table. */
const MOST_OF_A_CHECK = 20;
const MOST_SHOWN = 500;
const MOST_EXPORTED = 10_000;
/** Not seen for so long: gone. */
const KEPT_MS = 90 * 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;

/** Keeps observations in batches: what cannot be written is lost, for it is seen again. */
export function createObservations(sql: Sql, clock: Clock): Observations {
  const recent = new LRUCache<string, true>({
    max: MOST_REMEMBERED,
    ttl: AGAIN_MS,
    perf: { now: () => clock.monotonic() },
  });
  let waiting: NewObservation[] = [];

  const pump = createPump(async () => {
    const batch = waiting.splice(0, BATCH);
    if (batch.length === 0) return;
    await noteObservations(sql, batch, clock.now()).catch(() => {});
    if (waiting.length > 0) pump.wake();
  });

  const timer = setInterval(() => void prune(), PRUNE_EVERY_MS).unref();
  async function prune(): Promise<void> {
    const before = new Date(clock.now().getTime() - KEPT_MS);
    // Old rows do no harm: what fails now is done an hour later.
    while ((await pruneObservations(sql, before, BATCH).catch(() => 0)) === BATCH);
  }

  return {
    note(account, seen) {
      const accountId = account ?? EVERYBODY;
      for (const { host, ip } of seen.slice(0, MOST_OF_A_CHECK)) {
        if (literalFamily(host) !== null) continue;
        const key = `${accountId} ${ip} ${host}`;
        if (recent.has(key) || waiting.length >= MOST_WAITING) continue;
        recent.set(key, true);
        waiting.push({ ip, host, accountId });
      }
      if (waiting.length > 0) pump.wake();
    },
    at: (ip, accountId) => readObservations(sql, ip, accountId ?? EVERYBODY, MOST_SHOWN),
    forget: deleteObservations,
    export: (queryable, accountId) => exportObservations(queryable, accountId, MOST_EXPORTED),
    close: () => clearInterval(timer),
  };
}
