import type { Sql } from "#control-plane/core/database/connect.ts";
import type { ClaimedDelivery, SentEvent } from "#control-plane/notify/deliveries/delivery.ts";
import { findLaterEvents } from "#control-plane/notify/deliveries/store.ts";

/** Error code of a delivery that later events have overtaken. It is never recovered. */
export const OVERTAKEN_CODE = "overtaken";

/** Maximum number of events: of one monitor for one receiver, within the time of all attempts, the newest. */
const MOST_LATER = 50;

/**
 * Returns the events about the monitor of a delivery that its receiver has got although they are later, the newest first.
 * Replays do not count. Rejects while the database is away.
 */
export function readLaterEvents(sql: Sql, delivery: ClaimedDelivery): Promise<readonly SentEvent[]> {
  return findLaterEvents(sql, delivery, MOST_LATER);
}
