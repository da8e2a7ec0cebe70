import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";
import type { Config } from "#control-plane/config.ts";
import { connect } from "#control-plane/database/connect.ts";
import { guardDatabase } from "#control-plane/database/guarded.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { createPresence, type PresenceService } from "#control-plane/probes/presence/presence.ts";

const TIMEOUT_MS = 2_000;

/** What the presence of a replica needs. */
interface PresenceDeps {
  readonly config: Pick<Config, "databaseUrl" | "grpcAdvertise">;
  readonly notifications: Notifications;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

/** The presence of this replica, on a connection of its own; `start` it before agents may come. */
export function openPresence({ config, notifications, clock, log, registry }: PresenceDeps): PresenceService {
  // Half a second of beats may be lost with the database: the next beat repeats them.
  const options = { name: "vantage presence", connections: 1, statementTimeoutMs: TIMEOUT_MS, durable: false };
  return createPresence({
    database: guardDatabase(() => connect(config.databaseUrl, options), TIMEOUT_MS),
    notifications,
    clock,
    log,
    registry,
    address: config.grpcAdvertise ?? "",
  });
}
