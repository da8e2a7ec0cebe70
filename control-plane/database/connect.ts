import postgres from "postgres";
import { createSocketFactory, wantsTls } from "#control-plane/database/socket.ts";

/** A postgres.js client of ours: bigint columns are JavaScript numbers (ids and counts stay below 2^53). */
export type Sql = postgres.Sql<{ bigint: number }>;

/** The handle of an open transaction (database/transaction.ts). */
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

/** Anything a store function can run a statement on. */
export type Queryable = Sql | Transaction;

/** What differs between the clients of one process. */
export interface ConnectOptions {
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

/** Opens a client; nothing is sent until the first statement. Every wait is bounded: connecting, statements, retries. */
export function connect(databaseUrl: string, options: ConnectOptions): Sql {
  return postgres(databaseUrl, {
    max: options.connections,
    types: { bigint: BIGINT },
    connect_timeout: 2,
    // Seconds to the next attempt after a lost connection; the library's own rule goes up to 20.
    backoff: (retries: number) => Math.min(0.05 * 2 ** Math.min(retries, 4), 0.5),
    keep_alive: 15,
    onnotice: () => {},
    ...(wantsTls(databaseUrl) ? {} : { socket: createSocketFactory() }),
    connection: {
      application_name: options.name,
      statement_timeout: options.statementTimeoutMs,
      ...(options.durable === false ? { synchronous_commit: "off" } : {}),
    },
  });
}
