import { DatabaseAway } from "#control-plane/database/database-away.ts";
import type { Sql, Transaction } from "#control-plane/database/connect.ts";

/**
 * Runs `work` in one transaction. Statements sent on its handle once it has ended, by a straggler of a failed Promise.all
 * or after the connection died, would run outside of it: the handle refuses them. Do no other I/O inside; where one
 * statement will do, use one statement.
 */
export async function transact<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let over = false;
  try {
    return (await sql.begin((tx) => work(guard(tx, () => over)))) as T;
  } finally {
    over = true;
  }
}

function guard(tx: Transaction, isOver: () => boolean): Transaction {
  const refuse = (): void => {
    if (isOver()) throw new DatabaseAway("the transaction is over");
  };
  return new Proxy(tx, {
    apply(target, self, args) {
      refuse();
      return Reflect.apply(target, self, args) as unknown;
    },
    get(target, property, receiver) {
      refuse();
      return Reflect.get(target, property, receiver) as unknown;
    },
  });
}
