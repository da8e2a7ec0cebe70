import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";

/**
 * Runs `work` in one transaction. A statement that is sent after the transaction has ended, by a late promise of a
 * failed Promise.all or after the connection was lost, would run outside of it: the handle refuses such statements. Do
 * no other I/O inside. If one statement is enough, use one statement.
 */
export async function transact<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let hasEnded = false;
  try {
    return (await sql.begin((tx) => work(guard(tx, () => hasEnded)))) as T;
  } finally {
    hasEnded = true;
  }
}

/**
 * Runs `work` and then `finish` in one transaction. The statements of `finish` travel with the COMMIT, which saves a round
 * trip: it sends all of them before its first await, and their results do not matter to the result of `work`.
 */
export async function transactAndFinish<T>(
  sql: Sql,
  work: (tx: Transaction) => Promise<T>,
  finish: (tx: Transaction, value: T) => Promise<unknown>,
): Promise<T> {
  let finished: Promise<unknown> = Promise.resolve();
  const value = await transact(sql, async (tx) => {
    const worked = await work(tx);
    let isSent = false;
    finished = finish(
      guard(tx, () => isSent),
      worked,
    );
    isSent = true;
    finished.catch(() => {});
    return worked;
  });
  // After a failed statement COMMIT rolls back, which postgres.js does not report as an error.
  await finished;
  return value;
}

function guard(tx: Transaction, isEnded: () => boolean): Transaction {
  const refuseIfEnded = (): void => {
    if (isEnded()) throw new DatabaseAway("the transaction has ended");
  };
  return new Proxy(tx, {
    apply(target, self, args) {
      refuseIfEnded();
      return Reflect.apply(target, self, args) as unknown;
    },
    get(target, property, receiver) {
      refuseIfEnded();
      return Reflect.get(target, property, receiver) as unknown;
    },
  });
}
