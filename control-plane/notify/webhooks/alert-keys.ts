import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { NewEvent } from "#control-plane/notify/events/event.ts";
import { endOldKeys, readOldKeys } from "#control-plane/notify/webhooks/alert-keys-store.ts";
import { alertChange } from "#control-plane/notify/webhooks/formats/dedup.ts";
import type { FormatEvent, FormatTarget } from "#control-plane/notify/webhooks/formats/format.ts";
import { EVENT_TYPES } from "#control-plane/notify/webhooks/resource.ts";

/** Returns what writes the keys of the alerts of an event for a webhook. Rejects while the database is away. */
export async function readKeyOf(
  sql: Queryable,
  installation: string,
  { webhookId, event }: { readonly webhookId: number; readonly event: FormatEvent },
): Promise<FormatTarget["keyOf"]> {
  const { opens, resolves } = alertChange(event);
  const monitorId = (opens ?? resolves[0])?.monitorId ?? null;
  const { createdAt } = event;
  const old = monitorId === null ? [] : await readOldKeys(sql, { webhookId, monitorId, createdAt });
  return (key) => (old === "all" || old.includes(key) ? key : `vantage-${installation}-${key}`);
}

const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

/** Notes which alerts of the release before events resolve, so that the next ones have new keys. */
export async function noteResolved(tx: Queryable, events: readonly NewEvent[]): Promise<void> {
  const ended = events.flatMap(({ type, createdAt: at, data }) => {
    if (!TYPES.has(type)) return [];
    const change = alertChange({
      id: "",
      type: type as FormatEvent["type"],
      createdAt: at.toISOString(),
      body: "",
      data,
    });
    return change.resolves.flatMap(({ monitorId, key }) => (monitorId === null ? [] : [{ monitorId, key, at }]));
  });
  if (ended.length > 0) await endOldKeys(tx, ended);
}
