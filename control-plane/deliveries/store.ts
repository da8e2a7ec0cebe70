import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import {
  MOST_EVENTS,
  type Channel,
  type ClaimedDelivery,
  type DeliveryStatus,
  type Outcome,
  type SentEvent,
} from "#control-plane/deliveries/delivery.ts";
import { OVERDUE_MS, type Continuation } from "#control-plane/deliveries/transition.ts";

/** What to claim. */
interface ClaimRequest {
  readonly channel: Channel;
  /** Maximum number of deliveries. */
  readonly limit: number;
  /** Maximum number of attempts at the same time for one receiver. */
  readonly perReceiver: number;
  /** Number of this replica's attempts in progress by receiver. */
  readonly inProgress: ReadonlyMap<number, number>;
  readonly leaseEndsAt: Date;
  readonly now: Date;
}

type ClaimedRow = Omit<ClaimedDelivery, "events" | "count" | "channel"> & {
  readonly eventId: string;
  readonly type: string;
  readonly body: string;
  readonly followers: number;
  readonly followerIds: string[] | null;
  readonly followerTypes: string[] | null;
  readonly followerBodies: string[] | null;
};

/** Due rows that are looked at for each one to claim: the others can belong to a receiver that is busy. */
const LOOKED_AT = 4;

/**
 * Claims the next attempt of due deliveries, the longest due first. Rows that another replica is claiming are skipped.
 * The attempt counts from now on, also if this process stops.
 */
export async function claimDeliveries(sql: Sql, request: ClaimRequest): Promise<readonly ClaimedDelivery[]> {
  const { channel, limit, perReceiver, inProgress, leaseEndsAt, now } = request;
  const busy = [...inProgress].filter(([, attempts]) => attempts >= perReceiver).map(([receiver]) => receiver);
  const rows = await sql<ClaimedRow[]>`
    with due as (
      select id, receiver_id, due_at from deliveries
      where channel = ${channel} and due_at <= ${now} and due_at > ${new Date(now.getTime() - OVERDUE_MS)}
        and released_at is not null and not is_leased and receiver_id <> all(${busy}::bigint[])
      order by due_at, id limit ${limit * LOOKED_AT}
      for update skip locked
    ), ranked as (
      select due.*, coalesce(busy.attempts, 0) + row_number() over (partition by due.receiver_id order by due_at, id) as place
      from due left join unnest(
        ${[...inProgress.keys()]}::bigint[], ${[...inProgress.values()]}::integer[]
      ) as busy (receiver_id, attempts) on busy.receiver_id = due.receiver_id
    ), claimed as (
      update deliveries as d set is_leased = true, attempts = attempts + 1, due_at = ${leaseEndsAt}
      from (select id from ranked where place <= ${perReceiver} order by due_at, id limit ${limit}) as chosen
      where d.id = chosen.id
      returning d.id, d.account_id, d.receiver_id, d.recipient, d.attempts, d.event_id, d.created_at
    ), begun as (
      insert into delivery_attempts (delivery_id, attempt, started_at) select id, attempts, ${now} from claimed
    )
    select c.id, c.account_id as "accountId", c.receiver_id as "receiverId", c.recipient, c.attempts as attempt,
      c.created_at as "createdAt", e.id as "eventId", e.type, e.body, coalesce(f.total, 0)::integer as followers,
      f.ids as "followerIds", f.types as "followerTypes", f.bodies as "followerBodies"
    from claimed as c join events as e on e.id = c.event_id cross join lateral (
      select array_agg(one.id order by one.place) as ids, array_agg(one.type order by one.place) as types,
        array_agg(one.body order by one.place) as bodies, max(one.total) as total
      from (
        select fe.id, fe.type, fe.body, row_number() over (order by fd.id) as place, count(*) over () as total
        from deliveries as fd join events as fe on fe.id = fd.event_id where fd.leader_id = c.id
        order by fd.id limit ${MOST_EVENTS - 1}
      ) as one
    ) as f
    order by c.id`;
  return rows.map((row) => toClaimed(channel, row));
}

function toClaimed(channel: Channel, row: ClaimedRow): ClaimedDelivery {
  const { eventId, type, body, followers, followerIds, followerTypes, followerBodies, ...delivery } = row;
  const others = (followerIds ?? []).map((id, at): SentEvent => {
    return { id, type: followerTypes?.[at] ?? "", body: followerBodies?.[at] ?? "" };
  });
  return { ...delivery, channel, events: [{ id: eventId, type, body }, ...others], count: followers + 1 };
}

/** The end of an attempt, to store. */
export interface SettledAttempt {
  readonly id: number;
  readonly attempt: number;
  readonly endedAt: Date;
  /** null: unknown, because the attempt was lost. */
  readonly durationMs: number | null;
  readonly outcome: Outcome;
  readonly next: Continuation;
}

/**
 * Stores the ends of attempts: of the deliveries that are still at these attempts, and of those that travel with them.
 * Returns the ids of the former. It locks by id, as renewLeases does, which runs at the same time for the same rows.
 */
export async function settleAttempts(
  sql: Queryable,
  settled: readonly SettledAttempt[],
): Promise<readonly { readonly id: number; readonly status: DeliveryStatus }[]> {
  return sql<{ id: number; status: DeliveryStatus }[]>`
    with given as (
      select id, attempt, status, to_timestamp(next_ms / 1000) as next_at, to_timestamp(ended_ms / 1000) as ended_at,
        duration_ms, response_code, error_code, error_message, headers, body, truncated = 1 as truncated
      from unnest(
        ${settled.map(({ id }) => id)}::bigint[],
        ${settled.map(({ attempt }) => attempt)}::integer[],
        ${settled.map(({ next }) => next.status)}::text[],
        ${settled.map(({ next }) => next.nextAttemptAt?.getTime() ?? null)}::float8[],
        ${settled.map(({ endedAt }) => endedAt.getTime())}::float8[],
        ${settled.map(({ durationMs }) => durationMs)}::integer[],
        ${settled.map(({ outcome }) => outcome.responseCode)}::integer[],
        ${settled.map(({ outcome }) => ("code" in outcome ? outcome.code : null))}::text[],
        ${settled.map(({ outcome }) => ("message" in outcome ? outcome.message : null))}::text[],
        ${settled.map(({ outcome }) => outcome.responseHeaders ?? null)}::text[],
        ${settled.map(({ outcome }) => outcome.responseBody ?? null)}::text[],
        ${settled.map(({ outcome }) => (outcome.isTruncated === true ? 1 : 0))}::integer[]
      ) as given (id, attempt, status, next_ms, ended_ms, duration_ms, response_code, error_code, error_message, headers,
        body, truncated)
    ), locked as materialized (
      select id from deliveries where id = any(array(
        select id from given union all select f.id from deliveries as f join given on f.leader_id = given.id
      )) order by id for update
    ), own as (
      update deliveries as d
      set is_leased = false, status = g.status, due_at = g.next_at, next_attempt_at = g.next_at,
        delivered_at = case when g.status = 'delivered' then g.ended_at end, response_code = g.response_code,
        error_code = g.error_code, error_message = g.error_message, duration_ms = g.duration_ms
      from given as g join locked using (id)
      where d.id = g.id and d.attempts = g.attempt and d.status in ('pending', 'retrying')
      returning d.id, d.status
    ), followers as (
      update deliveries as d
      set attempts = g.attempt, status = g.status, next_attempt_at = g.next_at,
        delivered_at = case when g.status = 'delivered' then g.ended_at end, response_code = g.response_code,
        error_code = g.error_code, error_message = g.error_message, duration_ms = g.duration_ms
      from given as g join own on own.id = g.id
      where d.leader_id = g.id
    ), ended as (
      update delivery_attempts as a
      set ended_at = g.ended_at, response_code = g.response_code, error_code = g.error_code,
        error_message = g.error_message, response_headers = g.headers, response_body = g.body, truncated = g.truncated
      from given as g where a.delivery_id = g.id and a.attempt = g.attempt
    )
    select id, status from own`;
}

/** Extends the leases of attempts in progress. */
export async function renewLeases(
  sql: Sql,
  attempts: readonly { readonly id: number; readonly attempt: number }[],
  leaseEndsAt: Date,
): Promise<void> {
  await sql`
    with held as materialized (
      select d.id from deliveries as d join unnest(
        ${attempts.map(({ id }) => id)}::bigint[], ${attempts.map(({ attempt }) => attempt)}::integer[]
      ) as given (id, attempt) on d.id = given.id and d.attempts = given.attempt
      where d.is_leased order by d.id for update of d
    )
    update deliveries as d set due_at = ${leaseEndsAt} from held where d.id = held.id`;
}

/** Locks deliveries whose lease has ended, until the transaction ends. */
export async function lockLost(
  tx: Transaction,
  channel: Channel,
  now: Date,
  limit: number,
): Promise<readonly { readonly id: number; readonly attempt: number; readonly leaseEndedAt: Date }[]> {
  return tx<{ id: number; attempt: number; leaseEndedAt: Date }[]>`
    select id, attempts as attempt, due_at as "leaseEndedAt" from deliveries
    where channel = ${channel} and due_at <= ${now} and is_leased
    order by due_at limit ${limit} for update skip locked`;
}

/**
 * Marks at most `limit` deliveries as dead that are overdue by OVERDUE_MS or more, with those that travel with them as
 * one mail. Returns the number of overdue ones.
 */
export async function endOverdue(sql: Sql, channel: Channel, now: Date, limit: number): Promise<number> {
  const [row] = await sql<{ ended: number }[]>`
    with overdue as (
      select id from deliveries
      where channel = ${channel} and due_at <= ${new Date(now.getTime() - OVERDUE_MS)} and not is_leased
      order by due_at limit ${limit} for update skip locked
    ), ended as (
      update deliveries as d set status = 'dead', due_at = null, next_attempt_at = null, error_code = 'not_attempted',
        error_message = 'No attempt was made within 48 hours of the due time.'
      from overdue where d.id = overdue.id or d.leader_id = overdue.id
      returning d.id
    )
    select count(*) as ended from overdue where exists (select from ended)`;
  return row?.ended ?? 0;
}
