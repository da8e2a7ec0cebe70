import type { Registry } from "prom-client";
import type { Denials } from "#shared/internet/egress.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { createPacer } from "#control-plane/checks/target-pacer.ts";
import type { CheckContext, Inputs } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Config } from "#control-plane/core/config.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { guardDatabase } from "#control-plane/core/database/guarded.ts";
import type { Hub } from "#control-plane/checks/dispatch/hub.ts";
import { createTargetLimits } from "#control-plane/http/limits/targets.ts";

// A call whose count takes longer is answered 503.
const COUNT_TIMEOUT_MS = 2_000;

/** The checks of a replica. */
interface OpenChecks {
  readonly checks: CheckContext;
  /** Closes the database connection for counts. */
  close(): Promise<void>;
}

/** Opens the checks of a replica. `optOut`: names and addresses that opted out of them. */
export function openChecks(
  {
    config,
    clock,
    timers,
    registry,
    hub,
    inputs,
  }: Pick<App, "clock" | "timers"> & {
    readonly config: Pick<Config, "databaseUrl" | "targetBudget">;
    readonly registry: Registry;
    readonly hub: Hub;
    readonly inputs: Inputs;
  },
  optOut?: Denials,
): OpenChecks {
  // Not durable: losing the counts of the last second in a crash is better than a disk write in every call.
  const options = {
    name: "vantage targets",
    connections: 1,
    statementTimeoutMs: COUNT_TIMEOUT_MS,
    durable: false,
    timers,
  };
  const budget = createTargetLimits({
    clock,
    registry,
    database: guardDatabase(() => connect(config.databaseUrl, options), COUNT_TIMEOUT_MS),
    limit: config.targetBudget,
  });
  return {
    checks: {
      hub,
      clock,
      results: createResultCache(clock),
      budget,
      pacer: createPacer(clock),
      inputs,
      ...(optOut === undefined ? {} : { optOut }),
    },
    close: () => budget.close(),
  };
}
