import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { ReceiverSource } from "#control-plane/notify/events/event.ts";
import { noteResolved } from "#control-plane/notify/webhooks/alert-keys.ts";
import { matchesEvent } from "#control-plane/notify/webhooks/match.ts";
import { listSubscriptions } from "#control-plane/notify/webhooks/store.ts";
import { EVENT_TYPES } from "#control-plane/notify/webhooks/resource.ts";

/** Returns the tags of monitors by id. A monitor that was deleted is missing. */
type TagsOf = (sql: Queryable, monitorIds: readonly number[]) => Promise<ReadonlyMap<number, readonly string[]>>;

const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

/** Creates the source of subscriptions: the active ones that select an event when it is published. */
export function createWebhookSource(tagsOf: TagsOf): ReceiverSource {
  return {
    channel: "webhook",
    isBundled: false,
    async find(tx, events) {
      await noteResolved(tx, events);
      // A test goes to one subscription, which the caller names.
      const wanted = events.filter(({ type }) => TYPES.has(type) && type !== "test");
      if (wanted.length === 0) return events.map(() => []);
      const subscriptions = await listSubscriptions(tx, [...new Set(wanted.map(({ accountId }) => accountId))]);
      if (subscriptions.length === 0) return events.map(() => []);
      const byAccount = Map.groupBy(subscriptions, ({ accountId }) => accountId);
      const isTagged = subscriptions.some(({ filter }) => filter !== null && filter.tags.length > 0);
      const ids = wanted.flatMap(({ monitorId }) => monitorId ?? []);
      const tags = isTagged ? await tagsOf(tx, [...new Set(ids)]) : new Map<number, readonly string[]>();
      return events.map(({ accountId, type, monitorId }) => {
        if (type === "test") return [];
        const event = { type, monitorId, tags: tags.get(monitorId ?? 0) ?? [] };
        const own = byAccount.get(accountId) ?? [];
        return own.filter((one) => matchesEvent(one, event)).map(({ id }) => ({ receiverId: id, recipient: null }));
      });
    },
  };
}
