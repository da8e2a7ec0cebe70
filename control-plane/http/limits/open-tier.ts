import type { App } from "#control-plane/core/app.ts";
import type { Config } from "#control-plane/core/config.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { guardDatabase } from "#control-plane/core/database/guarded.ts";
import {
  createAnonymousLimits,
  type AnonymousAllowance,
  type AnonymousLimits,
} from "#control-plane/http/limits/anonymous.ts";
import { countRequests } from "#control-plane/http/limits/store.ts";

/** The open tier's limits with their database. */
interface OpenAnonymousLimits {
  readonly limits: AnonymousLimits;
  readonly allowance: AnonymousAllowance;
  close(): Promise<void>;
}

const TIMEOUT_MS = 2_000;

/** Opens the limits of callers without an account (VANTAGE_OPEN_PER_MINUTE, VANTAGE_OPEN_PER_DAY). */
export function openAnonymousLimits({
  clock,
  timers,
  config,
}: Pick<App, "clock" | "timers"> & {
  readonly config: Pick<Config, "databaseUrl" | "openPerMinute" | "openPerDay">;
}): OpenAnonymousLimits {
  const allowance = { requestsPerMinute: config.openPerMinute, requestsPerDay: config.openPerDay };
  const options = { name: "vantage open tier", connections: 1, statementTimeoutMs: TIMEOUT_MS, durable: false, timers };
  const database = guardDatabase(() => connect(config.databaseUrl, options), TIMEOUT_MS);
  const limits = createAnonymousLimits({
    clock,
    allowance,
    count: (windows, asks) => database.run((sql) => countRequests(sql, windows, asks)),
  });
  return {
    limits,
    allowance,
    close() {
      limits.close();
      return database.close();
    },
  };
}
