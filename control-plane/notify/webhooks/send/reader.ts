import type { Sql } from "#control-plane/core/database/connect.ts";
import { readWebhooks } from "#control-plane/notify/webhooks/store.ts";
import type { StoredWebhook } from "#control-plane/notify/webhooks/webhook.ts";

/** Reads subscriptions for attempts: those that begin at the same moment with one statement. */
interface SubscriptionReader {
  /** Returns a subscription as it is now; null if it was deleted. Rejects while the database is away. */
  read(id: number): Promise<StoredWebhook | null>;
}

/** Creates the reader of one replica. */
export function createSubscriptionReader(sql: Sql): SubscriptionReader {
  let waiting: { readonly ids: Set<number>; readonly found: Promise<ReadonlyMap<number, StoredWebhook>> } | null = null;

  async function readAll(ids: ReadonlySet<number>): Promise<ReadonlyMap<number, StoredWebhook>> {
    // Attempts of one claim begin in the same turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    waiting = null;
    const rows = await readWebhooks(sql, [...ids]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  return {
    async read(id) {
      if (waiting === null) {
        const ids = new Set<number>();
        waiting = { ids, found: readAll(ids) };
      }
      waiting.ids.add(id);
      return (await waiting.found).get(id) ?? null;
    },
  };
}
