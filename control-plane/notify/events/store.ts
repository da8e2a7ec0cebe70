import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { DELIVERIES_CHANNEL, type Channel } from "#control-plane/notify/deliveries/delivery.ts";

/** An event to insert. */
export interface StoredEvent {
  readonly id: string;
  readonly accountId: number;
  readonly type: string;
  readonly body: string;
  readonly monitorId: number | null;
  readonly incidentId: number | null;
  readonly isFlapping: boolean;
  readonly createdAt: Date;
}

/** A delivery to insert. */
interface StoredDelivery {
  /** Position of its event in the list of events. */
  readonly event: number;
  readonly channel: Channel;
  readonly receiverId: number;
  readonly recipient: string | null;
  /** Whether it can be sent without planning (deliveries/release). */
  readonly isReleased: boolean;
  readonly wait: Wait | null;
}

/** Why a delivery about the beginning of an outage waits: for its evidence, or until a status page shows the outage. */
export interface Wait {
  readonly until: Date;
  readonly for: "evidence" | "visitors";
}

/** Inserts events and their deliveries in one statement, and wakes the queues when the transaction commits. */
export async function insertEvents(
  tx: Transaction,
  events: readonly StoredEvent[],
  deliveries: readonly StoredDelivery[],
): Promise<void> {
  await tx`
    with given as (
      select id, account_id, type, body, monitor_id, incident_id, flapping = 1 as is_flapping,
        to_timestamp(created_ms / 1000) as created_at, ordinal - 1 as ordinal
      from unnest(
        ${events.map(({ id }) => id)}::text[],
        ${events.map(({ accountId }) => accountId)}::bigint[],
        ${events.map(({ type }) => type)}::text[],
        ${events.map(({ body }) => body)}::text[],
        ${events.map(({ monitorId }) => monitorId)}::bigint[],
        ${events.map(({ incidentId }) => incidentId)}::bigint[],
        ${events.map(({ isFlapping }) => (isFlapping ? 1 : 0))}::integer[],
        ${events.map(({ createdAt }) => createdAt.getTime())}::float8[]
      ) with ordinality as given (id, account_id, type, body, monitor_id, incident_id, flapping, created_ms, ordinal)
    ), stored as (
      insert into events (id, account_id, type, body, monitor_id, incident_id, is_flapping, created_at)
      select id, account_id, type, body, monitor_id, incident_id, is_flapping, created_at from given
    ), queued as (
      insert into deliveries (account_id, event_id, channel, receiver_id, recipient, due_at, held_by, released_at, is_ready,
        created_at)
      select given.account_id, given.id, d.channel, d.receiver_id, d.recipient,
        coalesce(to_timestamp(d.waits_ms / 1000), given.created_at), d.waits_for,
        case when d.released = 1 then given.created_at end, d.released = 1 and d.waits_ms is null, given.created_at
      from unnest(
        ${deliveries.map(({ event }) => event)}::integer[],
        ${deliveries.map(({ channel }) => channel)}::text[],
        ${deliveries.map(({ receiverId }) => receiverId)}::bigint[],
        ${deliveries.map(({ recipient }) => recipient)}::text[],
        ${deliveries.map(({ isReleased }) => (isReleased ? 1 : 0))}::integer[],
        ${deliveries.map(({ wait }) => wait?.until.getTime() ?? null)}::float8[],
        ${deliveries.map(({ wait }) => wait?.for ?? null)}::text[]
      ) with ordinality as d (event, channel, receiver_id, recipient, released, waits_ms, waits_for, ordinal)
      join given on given.ordinal = d.event order by d.ordinal
      returning channel
    )
    select pg_notify(${DELIVERIES_CHANNEL}, channel) from (select distinct channel from queued) as channels`;
}

/** Finds the type and the body of an event of an account; null if there is none. */
export async function findEvent(
  sql: Queryable,
  accountId: number,
  id: string,
): Promise<{ readonly type: string; readonly body: string } | null> {
  const [row] = await sql<{ type: string; body: string }[]>`
    select type, body from events where id = ${id} and account_id = ${accountId}`;
  return row ?? null;
}

/** Lists the bodies of an account's events for its data export, newest first. */
export async function listEvents(sql: Queryable, accountId: number, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ body: string }[]>`
    select body from events where account_id = ${accountId} and type not in ('confirm', 'page.confirm')
    order by created_at desc, id desc limit ${limit}`;
  return rows.map(({ body }) => body);
}
