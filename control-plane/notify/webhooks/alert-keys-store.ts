import type { Queryable } from "#control-plane/core/database/connect.ts";

/** What of an event decides about its keys. */
interface KeyedEvent {
  readonly webhookId: number;
  readonly monitorId: number;
  readonly createdAt: string;
}

/**
 * Returns which keys of an event are those of the release before: all, because the event is older than the upgrade, or
 * those of alerts that were open then and that no event before this one has resolved.
 */
export async function readOldKeys(
  sql: Queryable,
  { webhookId, monitorId, createdAt }: KeyedEvent,
): Promise<"all" | readonly string[]> {
  const [row] = await sql<{ isBefore: boolean; keys: string[] }[]>`
    select old_keys_until > ${createdAt} as "isBefore", array(
      select key from old_alert_keys where monitor_id = ${monitorId} and (ended_at is null or ended_at >= ${createdAt})
    ) as keys
    from webhooks where id = ${webhookId} and old_keys_until is not null`;
  if (row === undefined) return [];
  return row.isBefore ? "all" : row.keys;
}

/** Notes that events have resolved alerts, at these times. Those of the release before are not open any more. */
export async function endOldKeys(
  tx: Queryable,
  ended: readonly { readonly monitorId: number; readonly key: string; readonly at: Date }[],
): Promise<void> {
  await tx`
    update old_alert_keys as k set ended_at = given.at::timestamptz
    from unnest(
      ${ended.map(({ monitorId }) => monitorId)}::bigint[], ${ended.map(({ key }) => key)}::text[],
      ${ended.map(({ at }) => at.toISOString())}::text[]
    ) as given (monitor_id, key, at)
    where k.monitor_id = given.monitor_id and k.key = given.key and k.ended_at is null`;
}
