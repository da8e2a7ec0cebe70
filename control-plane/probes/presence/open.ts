import type { App } from "#control-plane/app.ts";
import { connect } from "#control-plane/database/connect.ts";
import { guardDatabase } from "#control-plane/database/guarded.ts";
import { createPresence, type PresenceService } from "#control-plane/probes/presence/presence.ts";

const TIMEOUT_MS = 2_000;

/** The presence of this replica over an open app, on a connection of its own; `start` it before agents may come. */
export function openPresence({ config, notifications, clock, log, metrics }: App): PresenceService {
  // A sign of life lost with the server's last half second is told again the next.
  const options = { name: "vantage presence", connections: 1, statementTimeoutMs: TIMEOUT_MS, durable: false };
  return createPresence({
    database: guardDatabase(() => connect(config.databaseUrl, options), TIMEOUT_MS),
    notifications,
    clock,
    log,
    registry: metrics.registry,
    address: config.grpcAdvertise ?? "",
  });
}
