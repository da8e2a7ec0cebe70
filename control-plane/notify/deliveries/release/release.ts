import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Channel } from "#control-plane/notify/deliveries/delivery.ts";
import {
  FLAPPING_MS,
  planRelease,
  WINDOW_MS,
  withoutEarly,
  type ReceiverDelivery,
  type RecentReleases,
} from "#control-plane/notify/deliveries/release/plan.ts";
import {
  findReceivers,
  deferDeliveries,
  lockReceivers,
  readLastReleases,
  readRecentReleases,
  readWaiting,
  releaseMessages,
} from "#control-plane/notify/deliveries/release/store.ts";

/** Maximum number of receivers in one transaction, each with a lock. */
const MOST_RECEIVERS = 100;
/** Maximum number of their waiting deliveries; the rest follows in the next round. */
const MOST_WAITING = 5_000;

/**
 * Releases or holds everything that is due and waits for other deliveries to the same receiver. Any number of replicas
 * can do this at the same time; each receiver is planned for by one. Returns whether there can be more to do.
 */
export async function releaseDue(sql: Sql, channel: Channel, now: Date): Promise<boolean> {
  const found = await findReceivers(sql, channel, now, MOST_RECEIVERS);
  if (found.length === 0) return false;
  await transact(sql, (tx) => releaseFor(tx, channel, found, now));
  return found.length === MOST_RECEIVERS;
}

async function releaseFor(tx: Transaction, channel: Channel, due: readonly number[], now: Date): Promise<void> {
  const receiverIds = await lockReceivers(tx, channel, due);
  if (receiverIds.length === 0) return;
  const found = await readWaiting(tx, channel, receiverIds, { limit: MOST_WAITING, now });
  const waiting = withoutEarly(found);
  const recentOf = await readRecent(tx, channel, { receiverIds, waiting, now });
  const plans = Array.from(
    Map.groupBy(waiting, ({ receiverId }) => receiverId),
    ([receiverId, own]) => planRelease(own, recentOf(receiverId), now, FLAPPING_MS[channel]),
  );
  const messages = plans.flatMap((plan) => plan.messages);
  const deferred = plans.flatMap((plan) => plan.deferred);
  if (messages.length > 0) await releaseMessages(tx, messages, now);
  if (deferred.length > 0) await deferDeliveries(tx, deferred);
}

/** Reads what was released for receivers lately. Returns a function that has it for each. */
async function readRecent(
  tx: Transaction,
  channel: Channel,
  about: {
    readonly receiverIds: readonly number[];
    readonly waiting: readonly ReceiverDelivery[];
    readonly now: Date;
  },
): Promise<(receiverId: number) => RecentReleases> {
  const { receiverIds, waiting, now } = about;
  const ago = (ms: number) => ({ since: new Date(now.getTime() - ms), now });
  const counts = await readRecentReleases(tx, channel, receiverIds, ago(WINDOW_MS));
  const flapping = new Set(waiting.flatMap(({ monitorId, isFlapping }) => (isFlapping ? (monitorId ?? []) : [])));
  const lasts =
    flapping.size === 0
      ? []
      : await readLastReleases(tx, channel, { receiverIds, monitorIds: [...flapping] }, ago(FLAPPING_MS[channel]));
  const countOf = new Map(counts.map((one) => [one.receiverId, one]));
  const lastsOf = Map.groupBy(lasts, ({ receiverId }) => receiverId);
  return (receiverId) => ({
    count: countOf.get(receiverId)?.count ?? 0,
    lastAt: countOf.get(receiverId)?.lastAt ?? null,
    lastByMonitor: new Map(lastsOf.get(receiverId)?.map(({ monitorId, at }) => [monitorId, at])),
  });
}
