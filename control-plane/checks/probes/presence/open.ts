import type { Registry } from "prom-client";
import type { App } from "#control-plane/core/app.ts";
import type { Config } from "#control-plane/core/config.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { guardDatabase } from "#control-plane/core/database/guarded.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { createPresence, type PresenceService } from "#control-plane/checks/probes/presence/presence.ts";

const TIMEOUT_MS = 2_000;

/** Opens the presence of this replica on a separate connection. Call `start` before agents can attach. */
export function openPresence({
  config,
  notifications,
  clock,
  log,
  timers,
  registry,
}: Pick<App, "clock" | "log" | "timers"> & {
  readonly config: Pick<Config, "databaseUrl" | "grpcAdvertise">;
  readonly notifications: Notifications;
  readonly registry: Registry;
}): PresenceService {
  // Signs of life of the last half second can be lost in a crash of the database: the next one repeats them.
  const options = { name: "vantage presence", connections: 1, statementTimeoutMs: TIMEOUT_MS, durable: false, timers };
  return createPresence({
    database: guardDatabase(() => connect(config.databaseUrl, options), TIMEOUT_MS),
    notifications,
    clock,
    log,
    timers,
    registry,
    address: config.grpcAdvertise ?? "",
  });
}
