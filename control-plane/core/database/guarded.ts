import type { Sql } from "#control-plane/core/database/connect.ts";
import { DatabaseAway, isDatabaseAway } from "#control-plane/core/database/database-away.ts";

/**
 * A client for statements that a request waits for: they settle within a time limit, if necessary with DatabaseAway.
 */
export interface GuardedDatabase {
  /** Runs statements. Rejects with DatabaseAway if the database is away or silent, else with what `work` throws. */
  run<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Closes the connections. Running statements fail. */
  close(): Promise<void>;
}

/**
 * Guards a client against a database that stops answering without closing its connections (a frozen host, a firewall
 * that dropped its state). After `timeoutMs` the client is replaced, so that the next statement uses a new connection.
 */
export function guardDatabase(open: () => Sql, timeoutMs: number): GuardedDatabase {
  let client = open();
  let closed = false;

  function replace(silent: Sql): void {
    if (closed || client !== silent) return;
    client = open();
    void silent.end({ timeout: 0 });
  }

  return {
    run(work) {
      const used = client;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          replace(used);
          reject(new DatabaseAway(`no answer from the database within ${timeoutMs} ms`));
        }, timeoutMs);
        work(used)
          .then(resolve, (error: unknown) => {
            reject(isDatabaseAway(error) ? new DatabaseAway("the database is not available", { cause: error }) : error);
          })
          .finally(() => clearTimeout(timer));
      });
    },
    async close() {
      closed = true;
      await client.end({ timeout: 1 });
    },
  };
}
