import postgres from "postgres";

/** A postgres.js client of ours: bigint columns are JavaScript numbers (ids and counts stay below 2^53). */
export type Sql = postgres.Sql<{ bigint: number }>;

/** The handle of an open transaction (database/transaction.ts). */
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

/** Anything a store function can run a statement on. */
export type Queryable = Sql | Transaction;

/** A piece of a statement, made with `sql` in a store and put into a statement there. */
export type SqlFragment = postgres.Fragment;

/** What differs between the clients of one process. */
interface ConnectOptions {
  /** Most connections open at once. */
  readonly connections: number;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** Milliseconds after which the server gives up a statement. */
  readonly statementTimeoutMs: number;
  /** false: a commit may be lost with the server's last half second, in exchange for not waiting for the disk. */
  readonly durable?: boolean;
}

const BIGINT = {
  to: 20,
  from: [20],
  serialize: (value: number) => String(value),
  parse: (text: string) => Number(text),
};

/** Seconds that statements on the sound connections of a client get to finish once one of its connections broke. */
const RETIRE_SECONDS = 5;

/**
 * Opens a client; nothing is sent until the first statement. Every wait is bounded: connecting, statements, retries.
 *
 * postgres.js 3.4.9 reconnects by itself, but a statement that it accepts between a socket's error and its close never
 * settles, and bytes not yet written then stay in the buffer and break the connection's next start. So a client whose
 * connection broke is never used again: behind the same handle the next statement gets a fresh one, and what was lost
 * with the old one is rejected when that is ended.
 */
export function connect(databaseUrl: string, options: ConnectOptions): Sql {
  let ended = false;
  let client = open();

  function open(): Sql {
    const opened: Sql = postgres(databaseUrl, {
      max: options.connections,
      types: { bigint: BIGINT },
      connect_timeout: 2,
      keep_alive: 15,
      // A connection ends because it broke, for no other reason.
      max_lifetime: null,
      idle_timeout: 0,
      onnotice: () => {},
      onclose: () => retire(opened),
      connection: {
        application_name: options.name,
        statement_timeout: options.statementTimeoutMs,
        ...(options.durable === false ? { synchronous_commit: "off" } : {}),
      },
    });
    return opened;
  }

  function retire(broken: Sql): void {
    if (ended || client !== broken) return;
    client = open();
    void broken.end({ timeout: options.connections === 1 ? 0 : RETIRE_SECONDS });
  }

  function end(how?: { timeout?: number }): Promise<void> {
    ended = true;
    return client.end(how);
  }

  return new Proxy(client, {
    apply: (_target, _self, args) => Reflect.apply(client, undefined, args) as unknown,
    get: (_target, property) => (property === "end" ? end : (Reflect.get(client, property) as unknown)),
  });
}

/**
 * Opens a client for LISTEN alone, which postgres.js takes up again by itself after every loss: nothing else is sent on
 * it, so that nothing can be lost.
 */
export function connectListener(databaseUrl: string, name: string): Sql {
  return postgres(databaseUrl, {
    max: 1,
    types: { bigint: BIGINT },
    connect_timeout: 2,
    // Seconds to the next attempt; the library's own rule goes up to 20.
    backoff: (retries: number) => Math.min(0.05 * 2 ** Math.min(retries, 4), 0.5),
    keep_alive: 15,
    onnotice: () => {},
    connection: { application_name: name },
  });
}
