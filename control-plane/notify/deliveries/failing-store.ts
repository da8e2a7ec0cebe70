import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Channel } from "#control-plane/notify/deliveries/delivery.ts";

/** A receiver whose attempts have failed for some time. */
export interface FailingReceiver {
  readonly receiverId: number;
  /** End of the first failed attempt after the last successful one. */
  readonly failingSince: Date;
  /** Failed attempts since then. */
  readonly failures: number;
}

/** Which receivers of a channel to list. */
interface FailingReceiverQuery {
  readonly channel: Channel;
  /** Latest first failure. */
  readonly since: Date;
  /** Smallest number of failed attempts. */
  readonly failures: number;
  readonly limit: number;
}

/** Lists receivers that have failed since a time or longer, those that have failed longest first. */
export async function listFailingReceivers(
  sql: Queryable,
  { channel, since, failures, limit }: FailingReceiverQuery,
): Promise<readonly FailingReceiver[]> {
  return sql<FailingReceiver[]>`
    select receiver_id as "receiverId", failing_since as "failingSince", failures from failing_receivers
    where channel = ${channel} and failing_since <= ${since} and failures >= ${failures}
    order by failing_since, receiver_id limit ${limit}`;
}

/** Locks what is known of the failures of a receiver until the transaction ends; null: its last attempt succeeded. */
export async function lockFailingReceiver(
  tx: Transaction,
  channel: Channel,
  receiverId: number,
): Promise<FailingReceiver | null> {
  const [row] = await tx<FailingReceiver[]>`
    select receiver_id as "receiverId", failing_since as "failingSince", failures from failing_receivers
    where channel = ${channel} and receiver_id = ${receiverId} for update`;
  return row ?? null;
}

/** Forgets the failures of a receiver: the next one counts as the first. */
export async function forgetFailures(tx: Transaction, channel: Channel, receiverId: number): Promise<void> {
  await tx`delete from failing_receivers where channel = ${channel} and receiver_id = ${receiverId}`;
}
