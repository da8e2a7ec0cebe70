import type { Clock } from "#shared/time/clock.ts";
import type { Limiter } from "#control-plane/http/access/ports.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { createLimiter } from "#control-plane/http/limits/limiter.ts";
import { countRequests, deleteCounts, pruneCounts } from "#control-plane/http/limits/store.ts";
import { windowsAt } from "#control-plane/http/access/windows.ts";
import type { Metrics } from "#control-plane/core/metrics.ts";

/** The limiter with its database and its housekeeping. */
interface AccountLimits extends Limiter {
  /** Deletes the counts of an account that is being erased. */
  forget(sql: Queryable, accountId: number): Promise<void>;
  close(): Promise<void>;
}

/** Dependencies of the account limits. */
interface AccountLimitsDeps {
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "limitStatements" | "limitRequests">;
  /** Used only by these limits and closed with them. */
  readonly database: GuardedDatabase;
}

const PRUNE_EVERY_MS = 3_600_000;

/** Opens the account limits of one replica. */
export function createAccountLimits({ clock, metrics, database }: AccountLimitsDeps): AccountLimits {
  const limiter = createLimiter({
    clock,
    count: (windows, asks) => database.run((sql) => countRequests(sql, windows, asks)),
    onStatement: (requests) => {
      metrics.limitStatements.inc();
      metrics.limitRequests.inc(requests);
    },
  });
  const timer = setInterval(() => {
    const { day } = windowsAt(clock.now().getTime());
    // Old rows do no harm: if this fails, the next round an hour later deletes them.
    database.run((sql) => pruneCounts(sql, day - 1)).catch(() => {});
  }, PRUNE_EVERY_MS);
  timer.unref();
  return {
    take: (accountId, plan, kind, counted) => limiter.take(accountId, plan, kind, counted),
    forget: deleteCounts,
    close() {
      clearInterval(timer);
      return database.close();
    },
  };
}
