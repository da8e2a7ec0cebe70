import type { Clock } from "#shared/time/clock.ts";
import type { AddressLimiter, Limiter } from "#control-plane/http/access/ports.ts";
import { createAccounts, type Accounts } from "#control-plane/accounts/accounts.ts";
import { createChanges, type Changes } from "#control-plane/accounts/changes/changes.ts";
import type { App } from "#control-plane/core/app.ts";
import { createDatabaseClock } from "#control-plane/core/clock.ts";
import type { Config } from "#control-plane/core/config.ts";
import { connect, connectListener, type Sql } from "#control-plane/core/database/connect.ts";
import { guardDatabase, type GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { createTimers, type Timers } from "#control-plane/core/timers.ts";
import { createTurns, type Turns } from "#control-plane/core/database/turns.ts";
import { createNotifications, type OwnNotifications } from "#control-plane/core/database/notifications.ts";
import { readTime } from "#control-plane/core/database/store.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { createKeys, type Keys } from "#control-plane/accounts/keys/keys.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import { createAccountLimits } from "#control-plane/http/limits/account.ts";
import { isInstallationCopy, readInstallation } from "#control-plane/core/secrets/installation.ts";
import { openEncryption } from "#control-plane/core/secrets/master-key.ts";
import { createMetrics } from "#control-plane/core/metrics.ts";
import { createMigrationCheck } from "#control-plane/core/migrations/migrate.ts";
import type { Plans } from "#control-plane/core/plans.ts";

/** The part of the configuration that the replica itself uses; routes read more of it. */
export type ReplicaConfig = Pick<Config, "databaseUrl" | "trustedProxies" | "v1V2Sunset">;

/** Settings, and the resources that only main is allowed to access. */
interface ReplicaInputs<C extends ReplicaConfig = Config> extends Pick<App, "random" | "log"> {
  readonly config: C;
  /** The operator's bearer token, read or generated. */
  readonly adminToken: string;
  /** 32 bytes, read or generated. */
  readonly masterKey: Uint8Array;
  /** The plans with the operator's override (core/plans-override.ts). */
  readonly plans: Plans;
  /** Clock of the host. */
  readonly hostClock: Clock;
}

/** Replacements for tests. */
export interface ReplicaOverrides {
  /** Used instead of the database's clock. */
  readonly clock?: Clock;
  /** Used instead of timers with the usual rests. */
  readonly timers?: Timers;
}

/** One replica of the control plane: everything that its parts share, open and ready. */
export interface Replica<C extends ReplicaConfig = Config> extends Omit<App, "config"> {
  readonly config: C;
  readonly adminToken: string;
  readonly plans: Plans;
  /** Connections of sign-ins and sessions, which nothing else takes. */
  readonly signInSql: Sql;
  /** Turns of the accounts' writes on `sql`. */
  readonly turns: Turns;
  /**
   * Connection for statements that a request or an agent waits for. They settle within 2 s, if necessary with
   * DatabaseAway.
   */
  readonly gate: GuardedDatabase;
  /** Encrypts secrets in the database. */
  readonly encryption: Encryption;
  /** Id of the installation, the same for all replicas (secrets/installation.ts). */
  readonly installation: string;
  readonly notifications: OwnNotifications;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly changes: Changes;
  readonly limits: Limiter;
  /** Limits requests with a missing or wrong key, per client address and minute. */
  readonly keyFailures: AddressLimiter;
  /** Limits requests with a missing or wrong operator token, per client address and minute. */
  readonly adminFailures: AddressLimiter;
  /** Reports whether the database has every migration. Rejects within 2 s if it is away. */
  isDatabaseReady(): Promise<boolean>;
  isDraining(): boolean;
  /** Makes this replica not ready, so that load balancers use others while open requests are answered. */
  drain(): void;
  /** Closes every connection. Call it after the server has stopped listening. */
  close(): Promise<void>;
}

// A request waits at most this long for the database; then the answer is 503.
const GATE_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Interval in milliseconds at which the database's time is measured. */
const CLOCK_MS = 5_000;
const POOL = 10;
const SIGN_IN_POOL = 2;
// Requests with a missing or wrong key are limited per client address, so that keys cannot be guessed without limit.
const FAILURES_PER_MINUTE = 30;

/** Opens a replica. Rejects if the database is away, because its clock is needed, and with WrongMasterKey. */
export async function openReplica<C extends ReplicaConfig>(
  inputs: ReplicaInputs<C>,
  overrides: ReplicaOverrides = {},
): Promise<Replica<C>> {
  const { config, plans, hostClock, random, log } = inputs;
  const timers = overrides.timers ?? createTimers(hostClock);
  const connectTo = (name: string, options: Omit<Parameters<typeof connect>[1], "name">): Sql =>
    connect(config.databaseUrl, { name: `vantage ${name}`, ...options });
  const open = (name: string, connections: number): Sql =>
    connectTo(name, { connections, statementTimeoutMs: STATEMENT_TIMEOUT_MS, timers });

  const sql = open("control plane", POOL);
  const signInSql = open("sign-in", SIGN_IN_POOL);
  const gated = { connections: 1, statementTimeoutMs: GATE_TIMEOUT_MS };
  // Readiness is asked for in a rest too: this connection stays.
  const gate = guardDatabase(() => connectTo("gate", gated), GATE_TIMEOUT_MS);
  const databaseClock = createDatabaseClock({ host: hostClock, readTime: () => gate.run(readTime) });
  const clock = overrides.clock ?? databaseClock;
  // A failed measurement can be ignored: the monotonic clock continues, and callers of the database get its errors.
  timers.repeat(CLOCK_MS, () => databaseClock.sync().catch(() => {}));
  const metrics = createMetrics({ clockOffsetMs: () => databaseClock.offsetMs() });
  const limits = createAccountLimits({
    clock,
    metrics,
    // Requests do not wait for the disk: losing the counts of the last second in a crash is acceptable.
    database: guardDatabase(() => connectTo("limits", { ...gated, durable: false, timers }), GATE_TIMEOUT_MS),
  });
  const listener = connectListener(config.databaseUrl, "vantage listener");
  const notifications = createNotifications(listener, timers);
  const keys = createKeys({ sql, gate, notifications, plans, clock, random });
  const accounts = createAccounts(sql, clock);
  accounts.onChange((tx, accountId) => keys.accountChanged(tx, accountId));
  accounts.afterChange((accountId) => keys.lookup.forgetAccount(accountId));
  accounts.onErase((tx, accountId) => limits.forget(tx, accountId));
  accounts.addExporter("keys", (tx, accountId) => keys.export(tx, accountId));
  const changes = createChanges({ sql, clock, log, timers });
  accounts.addExporter("changes", (tx, accountId) => changes.export(tx, accountId));

  const failures = () => createAddressLimiter({ clock, limit: FAILURES_PER_MINUTE, windowSeconds: 60 });
  const isMigrated = createMigrationCheck();
  let draining = false;

  const replica: Omit<Replica<C>, "installation" | "encryption"> = {
    config,
    adminToken: inputs.adminToken,
    plans,
    clock,
    random,
    log,
    timers,
    metrics,
    sql,
    signInSql,
    turns: createTurns(),
    gate,
    notifications,
    accounts,
    keys,
    changes,
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
      timers.stop();
      changes.close();
      const ends = [sql.end({ timeout: 5 }), signInSql.end({ timeout: 5 }), listener.end({ timeout: 1 })];
      await Promise.all([limits.close(), gate.close(), ...ends]);
    },
  };
  try {
    await databaseClock.sync();
    const encryption = await gate.run((client) => openEncryption(client, inputs.masterKey, random));
    const installation = await gate.run((client) => readInstallation(client, random));
    // A copy beside another installation mails nobody.
    const isCopy = await gate.run((client) => isInstallationCopy(client));
    return { ...replica, encryption, installation, config: isCopy ? { ...config, mail: null } : config };
  } catch (error) {
    await replica.close();
    throw error;
  }
}
