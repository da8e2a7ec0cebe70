import { Counter, type Registry } from "prom-client";
import type { App } from "#control-plane/core/app.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { countTargets, pruneTargets } from "#control-plane/http/limits/store.ts";
import { createTargetBudget, type TargetBudget } from "#control-plane/http/limits/target-budget.ts";
import { windowsAt } from "#control-plane/http/access/windows.ts";

/** The target budget with its database and its housekeeping. */
interface TargetLimits extends TargetBudget {
  close(): Promise<void>;
}

const PRUNE_EVERY_MS = 60_000;

/**
 * Opens the target budget of one replica. It alone uses `database`, and closes it. `limit` is the maximum number of
 * calls per minute at one target (VANTAGE_TARGET_BUDGET).
 */
export function createTargetLimits({
  clock,
  registry,
  database,
  limit,
}: Pick<App, "clock"> & {
  readonly registry: Registry;
  readonly database: GuardedDatabase;
  readonly limit: number;
}): TargetLimits {
  const refusals = new Counter({
    name: "vantage_target_budget_refusals_total",
    help: "Calls refused because the limit of their target was reached, by caller",
    labelNames: ["caller"],
    registers: [registry],
  });
  const budget = createTargetBudget({
    clock,
    limit,
    count: (minute, limits, asks) => database.run((sql) => countTargets(sql, minute, limits, asks)),
    onRefused: (caller) => refusals.inc({ caller }),
  });
  const timer = setInterval(() => {
    const { minute } = windowsAt(clock.now().getTime());
    // Old rows do no harm: if this fails, the next round a minute later deletes them.
    database.run((sql) => pruneTargets(sql, minute - 1)).catch(() => {});
  }, PRUNE_EVERY_MS);
  timer.unref();
  return {
    take: (target, anonymous) => budget.take(target, anonymous),
    close() {
      clearInterval(timer);
      return database.close();
    },
  };
}
