import { DatabaseAway } from "#control-plane/database/database-away.ts";
import type { Sql, Transaction } from "#control-plane/database/connect.ts";

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
