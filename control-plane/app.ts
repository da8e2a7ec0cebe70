import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import type { AddressLimiter, Limiter } from "#control-plane/access/ports.ts";
import { createAccounts, type Accounts } from "#control-plane/accounts/accounts.ts";
import { createDatabaseClock } from "#control-plane/clock.ts";
import type { Config } from "#control-plane/config.ts";
import { connect, connectListener, type Sql } from "#control-plane/database/connect.ts";
import { guardDatabase, type GuardedDatabase } from "#control-plane/database/guarded.ts";
import { createNotifications, type Notifications } from "#control-plane/database/notifications.ts";
import { readTime } from "#control-plane/database/store.ts";
import { createEncryption, type Encryption } from "#control-plane/secrets/encryption.ts";
import { createKeys, type Keys } from "#control-plane/keys/keys.ts";
import { createAddressLimiter } from "#control-plane/limits/address.ts";
import { createAccountLimits } from "#control-plane/limits/account.ts";
import { checkMasterKey } from "#control-plane/secrets/master-key.ts";
import { createMetrics, type Metrics } from "#control-plane/metrics.ts";
import { createMigrationCheck } from "#control-plane/migrations/migrate.ts";
import type { Plans } from "#control-plane/plans/plans.ts";

/** What the app takes of the configuration itself; routes read more of it. */
export type AppConfig = Pick<Config, "databaseUrl" | "trustedProxies" | "v1V2Sunset">;

/** What main hands in: settings, and what only main may touch. */
interface AppInputs<C extends AppConfig = Config> {
  readonly config: C;
  /** The operator's bearer token, read or generated. */
  readonly adminToken: string;
  /** 32 bytes, read or generated. */
  readonly masterKey: Uint8Array;
  /** The table in force (plans.ts, plans-override.ts). */
  readonly plans: Plans;
  /** The host's own clock. */
  readonly hostClock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** What tests put in the place of the real thing. */
export interface AppOverrides {
  /** Instead of the database's. */
  readonly clock?: Clock;
}

/** One replica of the control plane: everything its rooms share, open and ready. */
export interface App<C extends AppConfig = Config> {
  readonly config: C;
  readonly adminToken: string;
  readonly plans: Plans;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly sql: Sql;
  /** For statements that a request or an agent waits for: an answer or DatabaseAway within 2 s. */
  readonly gate: GuardedDatabase;
  /** For secrets at rest. */
  readonly encryption: Encryption;
  readonly notifications: Notifications;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly limits: Limiter;
  /** Requests with a missing or wrong key, per client address and minute. */
  readonly keyFailures: AddressLimiter;
  /** Requests with a missing or wrong operator token, likewise. */
  readonly adminFailures: AddressLimiter;
  /** Whether the database answers and has every migration; rejects within 2 s when it is away. */
  isDatabaseReady(): Promise<boolean>;
  isDraining(): boolean;
  /** From now on not ready: balancers look elsewhere while open requests are answered. */
  drain(): void;
  /** Closes every connection; call it when the server has stopped listening. */
  close(): Promise<void>;
}

// A request waits no longer than this for the database, then it is 503.
const GATE_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const POOL = 10;
// Requests with a missing or wrong key are limited per client address: guessing keys must not be free.
const FAILURES_PER_MINUTE = 30;

/** Opens the app; rejects where the database is away, since the clock is the database's, and with WrongMasterKey. */
export async function createApp<C extends AppConfig>(
  inputs: AppInputs<C>,
  overrides: AppOverrides = {},
): Promise<App<C>> {
  const { config, plans, hostClock, random, log } = inputs;
  const open = (name: string, connections: number, statementTimeoutMs: number, durable = true): Sql =>
    connect(config.databaseUrl, { name: `vantage ${name}`, connections, statementTimeoutMs, durable });

  const sql = open("control plane", POOL, STATEMENT_TIMEOUT_MS);
  const gate = guardDatabase(() => open("gate", 1, GATE_TIMEOUT_MS), GATE_TIMEOUT_MS);
  const databaseClock = createDatabaseClock({ host: hostClock, readTime: () => gate.run(readTime) });
  const clock = overrides.clock ?? databaseClock;
  const metrics = createMetrics({ clockOffsetMs: () => databaseClock.offsetMs() });
  const limits = createAccountLimits({
    clock,
    metrics,
    // The counts of a second before a crash are not worth waiting for the disk on every request.
    database: guardDatabase(() => open("limits", 1, GATE_TIMEOUT_MS, false), GATE_TIMEOUT_MS),
  });
  const listener = connectListener(config.databaseUrl, "vantage listener");
  const notifications = createNotifications(listener);
  const keys = createKeys({ sql, gate, notifications, plans, clock, random });
  const accounts = createAccounts(sql, clock);
  accounts.onChange((tx, accountId) => keys.accountChanged(tx, accountId));
  accounts.afterChange((accountId) => keys.lookup.forgetAccount(accountId));
  accounts.onErase((tx, accountId) => limits.forget(tx, accountId));
  accounts.addExporter("keys", (tx, accountId) => keys.export(tx, accountId));

  const failures = () => createAddressLimiter({ clock, limit: FAILURES_PER_MINUTE, windowSeconds: 60 });
  const isMigrated = createMigrationCheck();
  let draining = false;

  const app: App<C> = {
    config,
    adminToken: inputs.adminToken,
    plans,
    clock,
    random,
    log,
    metrics,
    sql,
    gate,
    encryption: createEncryption(inputs.masterKey, random),
    notifications,
    accounts,
    keys,
    limits,
    keyFailures: failures(),
    adminFailures: failures(),
    isDatabaseReady: () => gate.run(isMigrated),
    isDraining: () => draining,
    drain: () => {
      draining = true;
    },
    async close() {
      draining = true;
      databaseClock.close();
      await Promise.all([limits.close(), gate.close(), listener.end({ timeout: 1 }), sql.end({ timeout: 5 })]);
    },
  };
  try {
    await databaseClock.sync();
    await gate.run((client) => checkMasterKey(client, inputs.masterKey));
  } catch (error) {
    await app.close();
    throw error;
  }
  return app;
}
