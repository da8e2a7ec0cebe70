import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { LogFilter, LoggedAttempt, LoggedDelivery } from "#control-plane/notify/deliveries/log/logged.ts";
import {
  countLogged,
  findLogged,
  findUndelivered,
  insertReplays,
  listAttempts,
  listLogged,
} from "#control-plane/notify/deliveries/log/store.ts";

/** The log of an account's webhook deliveries. */
export interface DeliveryLog {
  /** Lists a page of the deliveries that match a filter, newest first, and their total number. */
  list(
    sql: Queryable,
    accountId: number,
    filter: LogFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly deliveries: readonly LoggedDelivery[]; readonly total: number }>;
  /** Finds a delivery with its attempts; null if the account has none with this id. */
  find(
    sql: Queryable,
    accountId: number,
    id: number,
  ): Promise<{ readonly delivery: LoggedDelivery; readonly attempts: readonly LoggedAttempt[] } | null>;
  /** Sends deliveries again. Returns the ids of the new ones. */
  replay(tx: Transaction, accountId: number, ids: readonly number[], now: Date): Promise<readonly number[]>;
  /**
   * Sends again what a webhook has not got since a time, each event once. Returns the number of events, at most
   * MOST_RECOVERED.
   */
  recover(
    tx: Transaction,
    accountId: number,
    receiverId: number,
    times: { readonly since: Date; readonly now: Date },
  ): Promise<number>;
}

/** Maximum number of events that one recovery sends again; the rest needs another one. */
const MOST_RECOVERED = 10_000;

/** Creates the log of webhook deliveries. */
export function createDeliveryLog(): DeliveryLog {
  return {
    async list(sql, accountId, filter, page) {
      const [deliveries, total] = await Promise.all([
        listLogged(sql, accountId, filter, page),
        countLogged(sql, accountId, filter),
      ]);
      return { deliveries, total };
    },
    async find(sql, accountId, id) {
      const delivery = await findLogged(sql, accountId, id);
      return delivery === null ? null : { delivery, attempts: await listAttempts(sql, id) };
    },
    replay: insertReplays,
    async recover(tx, accountId, receiverId, { since, now }) {
      const ids = await findUndelivered(tx, accountId, receiverId, { since, limit: MOST_RECOVERED });
      return (await insertReplays(tx, accountId, ids, now)).length;
    },
  };
}
