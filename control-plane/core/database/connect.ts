import postgres from "postgres";
import type { Timers } from "#control-plane/core/timers.ts";

/** A postgres.js client that reads bigint columns as JavaScript numbers (ids and counts stay below 2^53). */
export type Sql = postgres.Sql<{ bigint: number }>;

/** The handle of an open transaction (database/transaction.ts). */
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

/** A client or a transaction: anything on which a store function can run a statement. */
export type Queryable = Sql | Transaction;

/** A part of a statement, created with `sql` in a store and inserted into a statement there. */
export type SqlFragment = postgres.Fragment;

/** Options that differ between the clients of one process. */
interface ConnectOptions {
  /** Maximum number of open connections. */
  readonly connections: number;
  /** Name of the client in pg_stat_activity. */
  readonly name: string;
  /** Time in milliseconds after which the server cancels a statement. */
  readonly statementTimeoutMs: number;
  /**
   * If false, commits do not wait for the disk, and those of the last half second can be lost if the server crashes.
   */
  readonly durable?: boolean;
  /**
   * If true, each statement is planned once, and looks rows up by index, one by one. Otherwise the server chooses by its
   * statistics and the parameters, and can read a whole table that it takes for small, but only if there is a row to join
   * with.
   */
  readonly fixedPlans?: boolean;
  /** If given, the connections end whenever the replica rests. */
  readonly timers?: Pick<Timers, "onRest">;
}

const FIXED_PLANS = {
  plan_cache_mode: "force_generic_plan",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_seqscan: "off",
};

const BIGINT = {
  to: 20,
  from: [20],
  serialize: (value: number) => String(value),
  parse: (text: string) => Number(text),
};

/** Seconds for which statements on a client's other connections can still finish after one of its connections broke. */
const RETIRE_SECONDS = 5;

/**
 * Opens a client. It sends nothing before the first statement. Connecting, statements and retries all have a time
 * limit.
 *
 * postgres.js 3.4.9 reconnects by itself. But a statement that it accepts between a socket's error and its close never
 * settles, and bytes that are not yet written stay in the buffer and break the next start of the connection. So a
 * client whose connection broke is never used again. The returned handle uses a new client for the next statement, and
 * the lost statements of the old client are rejected when it is ended.
 */
export function connect(databaseUrl: string, options: ConnectOptions): Sql {
  let ended = false;
  let isUsed = false;
  let client = open();
  const ignoreRests = options.timers?.onRest(() => {
    if (isUsed) retire(client, null);
  });

  function open(): Sql {
    const opened: Sql = postgres(databaseUrl, {
      max: options.connections,
      types: { bigint: BIGINT },
      connect_timeout: 2,
      keep_alive: 15,
      // With these two settings a connection only ends because it broke.
      max_lifetime: null,
      idle_timeout: 0,
      onnotice: () => {},
      onclose: () => retire(opened, options.connections === 1 ? 0 : RETIRE_SECONDS),
      connection: {
        application_name: options.name,
        statement_timeout: options.statementTimeoutMs,
        ...(options.durable === false ? { synchronous_commit: "off" } : {}),
        ...(options.fixedPlans === true ? FIXED_PLANS : {}),
      },
    });
    return opened;
  }

  /** Replaces a client. Its statements have `seconds` to end; null: as long as they take. */
  function retire(retired: Sql, seconds: number | null): void {
    if (ended || client !== retired) return;
    client = open();
    isUsed = false;
    void retired.end(seconds === null ? {} : { timeout: seconds });
  }

  function end(how?: { timeout?: number }): Promise<void> {
    ended = true;
    ignoreRests?.();
    return client.end(how);
  }

  function use(): Sql {
    isUsed = true;
    return client;
  }

  return new Proxy(client, {
    apply: (_target, _self, args) => Reflect.apply(use(), undefined, args) as unknown,
    get: (_target, property) => (property === "end" ? end : (Reflect.get(use(), property) as unknown)),
  });
}

/**
 * Opens a client for LISTEN only. postgres.js reconnects and listens again by itself after every loss. No statements
 * are sent on this client, so none can be lost.
 */
export function connectListener(databaseUrl: string, name: string): Sql {
  return postgres(databaseUrl, {
    max: 1,
    types: { bigint: BIGINT },
    connect_timeout: 2,
    // Seconds to the next attempt. The library's default goes up to 20.
    backoff: (retries: number) => Math.min(0.05 * 2 ** Math.min(retries, 4), 0.5),
    keep_alive: 15,
    onnotice: () => {},
    connection: { application_name: name },
  });
}
