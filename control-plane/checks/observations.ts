import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import type { Clock } from "#shared/time/clock.ts";
import type { Observation } from "#shared/tools/define.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import {
  deleteObservations,
  exportObservations,
  writeObservations,
  pruneObservations,
  readObservations,
  type NewObservation,
  type SeenName,
} from "#control-plane/checks/observations-store.ts";

/** Names that checks have seen at addresses. */
export interface Observations {
  /**
   * Stores soon what a check has seen, without delaying its answer. `accountId` is null for a caller without an
   * account.
   */
  note(accountId: number | null, seen: readonly Observation[]): void;
  /** Returns the names seen at an address by callers without an account and by this account, newest first. */
  at(ip: string, accountId: number | null): Promise<readonly SeenName[]>;
  /** Deletes what an account has seen. */
  forget(sql: Queryable, accountId: number): Promise<void>;
  /** Returns what an account has seen, for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  close(): void;
}

/** Account id of observations by callers without an account; every caller can read them. */
const EVERYBODY = 0;
/** Time in milliseconds within which the same observation is not written again. */
const AGAIN_MS = 3_600_000;
/** Maximum number of recent observations in memory. */
const MOST_REMEMBERED = 20_000;
/** Maximum number of observations that wait to be written. */
const MOST_WAITING = 5_000;
/** Maximum number of observations in one statement. */
const BATCH = 500;
/**
 * Maximum number of names of one check: a hostile chain of redirects or a long list of records must not fill the table.
 */
const MOST_OF_A_CHECK = 20;
/** Maximum number of names returned for an address. */
const MOST_SHOWN = 500;
/** Maximum number of observations in an export. */
const MOST_EXPORTED = 10_000;
/** Retention in milliseconds after an observation was last seen: 90 days. */
const KEPT_MS = 90 * 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;

/**
 * Opens the observations. They are written in batches; a batch that cannot be written is dropped, as its names are seen
 * again.
 */
export function createObservations(sql: Sql, clock: Clock): Observations {
  const recent = createLeastRecent<string, true>(MOST_REMEMBERED, {
    ttl: AGAIN_MS,
    perf: { now: () => clock.monotonic() },
  });
  let waiting: NewObservation[] = [];

  const pump = createPump(async () => {
    const batch = waiting.splice(0, BATCH);
    if (batch.length === 0) return;
    await writeObservations(sql, batch, clock.now()).catch(() => {});
    if (waiting.length > 0) pump.wake();
  });

  const timer = setInterval(() => void prune(), PRUNE_EVERY_MS).unref();
  async function prune(): Promise<void> {
    const before = new Date(clock.now().getTime() - KEPT_MS);
    // Old rows do no harm: if this fails, the next round an hour later deletes them.
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
