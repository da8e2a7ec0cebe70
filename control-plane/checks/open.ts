import type { Denials } from "#shared/egress.ts";
import type { App } from "#control-plane/app.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { createPacer } from "#control-plane/checks/pace.ts";
import type { CheckContext, Inputs } from "#control-plane/checks/context.ts";
import { createObservations } from "#control-plane/observations/observations.ts";
import { connect } from "#control-plane/database/connect.ts";
import { guardDatabase } from "#control-plane/database/guarded.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import { createTargetLimits } from "#control-plane/limits/targets.ts";

// A call waits no longer than this to be counted, then it is 503.
const COUNT_TIMEOUT_MS = 2_000;

/** What every check of a replica goes by. */
export interface OpenChecks {
  readonly checks: CheckContext;
  /** Closes the connection that calls are counted on. */
  close(): Promise<void>;
}

/** Opens the checks of a replica over its hub. */
export function openChecks(app: App, hub: Hub, optOut?: Denials): OpenChecks {
  const { clock, config, metrics } = app;
  // The counts of a second before a crash are not worth waiting for the disk on every call.
  const options = {
    name: "vantage targets",
    connections: 1,
    statementTimeoutMs: COUNT_TIMEOUT_MS,
    durable: false,
  };
  const budget = createTargetLimits({
    clock,
    registry: metrics.registry,
    database: guardDatabase(() => connect(config.databaseUrl, options), COUNT_TIMEOUT_MS),
    limit: config.targetBudget,
  });
  const results = createResultCache(clock);
  const observations = createObservations(app.sql, clock);
  app.accounts.onErase((tx, accountId) => observations.forget(tx, accountId));
  app.accounts.addExporter("observations", (tx, accountId) => observations.export(tx, accountId));
  const inputs: Inputs = {
    observe: (accountId, seen) => observations.note(accountId, seen),
    async namesAt(ip, accountId) {
      const names = await observations.at(ip, accountId);
      return names.map(({ host, firstSeen, lastSeen }) => {
        return { host, first_seen: firstSeen.toISOString(), last_seen: lastSeen.toISOString() };
      });
    },
  };
  return {
    checks: { hub, clock, results, budget, pacer: createPacer(), inputs, ...(optOut === undefined ? {} : { optOut }) },
    async close() {
      observations.close();
      await budget.close();
    },
  };
}
