import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Channel } from "#control-plane/notify/deliveries/delivery.ts";
import {
  forgetFailures,
  listFailingReceivers,
  lockFailingReceiver,
  type FailingReceiver,
} from "#control-plane/notify/deliveries/failing-store.ts";

/** The receivers of one channel whose last attempt failed. */
export interface FailingReceivers {
  /** Lists receivers that have failed since a time or longer, those that have failed longest first. */
  list(
    sql: Queryable,
    query: { readonly since: Date; readonly failures: number; readonly limit: number },
  ): Promise<readonly FailingReceiver[]>;
  /** Locks what is known of the failures of a receiver until the transaction ends; null: its last attempt succeeded. */
  lock(tx: Transaction, receiverId: number): Promise<FailingReceiver | null>;
  /** Forgets the failures of a receiver: the next one counts as the first. */
  forget(tx: Transaction, receiverId: number): Promise<void>;
}

/** Creates the view of a channel's failing receivers. */
export function createFailingReceivers(channel: Channel): FailingReceivers {
  return {
    list: (sql, query) => listFailingReceivers(sql, { ...query, channel }),
    lock: (tx, receiverId) => lockFailingReceiver(tx, channel, receiverId),
    forget: (tx, receiverId) => forgetFailures(tx, channel, receiverId),
  };
}
