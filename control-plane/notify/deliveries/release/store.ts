import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { DELIVERIES_CHANNEL, type Channel } from "#control-plane/notify/deliveries/delivery.ts";
import type { DeferredDelivery, ReceiverDelivery } from "#control-plane/notify/deliveries/release/plan.ts";

/** Maximum number of due rows that are read to find receivers. */
const MOST_DUE = 1_000;

/** Finds receivers for which something waits that is due, at most `limit`. */
export async function findReceivers(sql: Sql, channel: Channel, now: Date, limit: number): Promise<readonly number[]> {
  const rows = await sql<{ receiverId: number }[]>`
    select distinct receiver_id as "receiverId" from (
      select receiver_id from deliveries
      where channel = ${channel} and due_at <= ${now} and released_at is null
      order by due_at limit ${MOST_DUE}
    ) as due limit ${limit}`;
  return rows.map(({ receiverId }) => receiverId);
}

/** Locks receivers until the transaction ends. Leaves out those that another replica has locked. */
export async function lockReceivers(
  tx: Transaction,
  channel: Channel,
  receiverIds: readonly number[],
): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from unnest(${[...receiverIds]}::bigint[]) as id
    where pg_try_advisory_xact_lock(hashtextextended('deliveries of ' || ${channel}::text || ' ' || id, 0))`;
  return rows.map(({ id }) => id);
}

/** Counts what was released for these receivers after `since`; those without such releases are missing. */
export async function readRecentReleases(
  tx: Transaction,
  channel: Channel,
  receiverIds: readonly number[],
  { since, now }: { readonly since: Date; readonly now: Date },
): Promise<readonly { readonly receiverId: number; readonly count: number; readonly lastAt: Date }[]> {
  return tx<{ receiverId: number; count: number; lastAt: Date }[]>`
    select receiver_id as "receiverId", count(*) as count, max(released_at) as "lastAt" from deliveries
    where channel = ${channel} and receiver_id = any(${[...receiverIds]}::bigint[])
      and released_at > ${since} and released_at <= ${now}
    group by 1`;
}

/** Reads everything that waits for these receivers, also what is not due yet, oldest first. */
export async function readWaiting(
  tx: Transaction,
  channel: Channel,
  receiverIds: readonly number[],
  { limit, now }: { readonly limit: number; readonly now: Date },
): Promise<readonly ReceiverDelivery[]> {
  return tx<ReceiverDelivery[]>`
    select d.id, d.receiver_id as "receiverId", e.monitor_id as "monitorId", e.is_flapping as "isFlapping",
      e.type = 'flapping' as "isFlappingNotice",
      d.held_by as "heldBy", coalesce(d.held_by in ('evidence', 'visitors') and d.due_at > ${now}, false) as "isEarly"
    from deliveries as d join events as e on e.id = d.event_id
    where d.channel = ${channel} and d.receiver_id = any(${[...receiverIds]}::bigint[])
      and d.released_at is null and d.due_at is not null
    order by d.id limit ${limit}`;
}

/** Reads when something about these monitors was last released to these receivers, if that was after `since`. */
export async function readLastReleases(
  tx: Transaction,
  channel: Channel,
  { receiverIds, monitorIds }: { readonly receiverIds: readonly number[]; readonly monitorIds: readonly number[] },
  { since, now }: { readonly since: Date; readonly now: Date },
): Promise<readonly { readonly receiverId: number; readonly monitorId: number; readonly at: Date }[]> {
  return tx<{ receiverId: number; monitorId: number; at: Date }[]>`
    select d.receiver_id as "receiverId", e.monitor_id as "monitorId", max(d.released_at) as at
    from deliveries as d join events as e on e.id = d.event_id
    where d.channel = ${channel} and d.receiver_id = any(${[...receiverIds]}::bigint[]) and d.released_at > ${since}
      and d.released_at <= ${now} and e.monitor_id = any(${[...monitorIds]}::bigint[])
    group by 1, 2`;
}

/** Releases messages for their first attempt, which is due now. */
export async function releaseMessages(
  tx: Transaction,
  messages: readonly (readonly number[])[],
  now: Date,
): Promise<void> {
  const rows = messages.flatMap((ids) => ids.map((id) => ({ id, leaderId: ids[0] === id ? null : (ids[0] ?? null) })));
  await tx`
    update deliveries as d
    set released_at = ${now}, leader_id = given.leader_id, is_ready = given.leader_id is null,
      due_at = case when given.leader_id is null then ${now}::timestamptz end
    from ${given(tx, rows, { id: "bigint", leaderId: "bigint" })}
    where d.id = given.id`;
}

/** Makes deliveries about the beginning of these incidents due that wait for evidence, and wakes the queues. */
export async function releaseOutages(tx: Transaction, incidentIds: readonly number[], now: Date): Promise<void> {
  await tx`
    with released as (
      update deliveries as d set due_at = ${now}, held_by = null
      from events as e
      where e.incident_id = any(${[...incidentIds]}::bigint[]) and e.type = 'monitor.down' and d.event_id = e.id
        and d.held_by = 'evidence' and d.released_at is null and d.due_at is not null
      returning d.channel
    )
    select pg_notify(${DELIVERIES_CHANNEL}, channel) from (select distinct channel from released) as channels`;
}

/** Stores until when deliveries are deferred, and why. */
export async function deferDeliveries(tx: Transaction, deferred: readonly DeferredDelivery[]): Promise<void> {
  await tx`
    update deliveries as d set due_at = given.until, held_by = given.by
    from ${given(tx, deferred, { id: "bigint", until: "timestamptz", by: "text" })}
    where d.id = given.id`;
}
