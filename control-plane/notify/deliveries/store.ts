import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import type {
  Channel,
  ClaimedDelivery,
  DeliveryStatus,
  Outcome,
  SentEvent,
} from "#control-plane/notify/deliveries/delivery.ts";
import { OVERDUE_MS, type Continuation } from "#control-plane/notify/deliveries/transition.ts";

/** The end of an attempt, to store. */
export interface SettledAttempt {
  readonly id: number;
  readonly channel: Channel;
  readonly attempt: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** null: unknown, because the attempt was lost. */
  readonly durationMs: number | null;
  readonly outcome: Outcome;
  readonly next: Continuation;
  /** Whether it is now that the message is late: the attempts before were still in time. Absent: false. */
  readonly isPutOff?: boolean;
  /** The receiver whose state the outcome shows; null if it shows none. */
  readonly receiver: { readonly channel: Channel; readonly id: number } | null;
}

/**
 * Stores the ends of attempts: of the deliveries that are still at these attempts, and of those that travel with them.
 * Returns the ids of the former. It locks by id, as renewLeases does, which runs at the same time for the same rows.
 */
export async function settleAttempts(
  sql: Queryable,
  settled: readonly SettledAttempt[],
): Promise<readonly { readonly id: number; readonly status: DeliveryStatus }[]> {
  const begins = settled.map(({ startedAt }) => startedAt.getTime());
  // Attempts are partitioned by their beginning: the bounds leave partitions out.
  const [first, last] = [new Date(Math.min(...begins)), new Date(Math.max(...begins))];
  return sql<{ id: number; status: DeliveryStatus }[]>`
    with given as (
      select id, attempt, status, to_timestamp(next_ms / 1000) as next_at, to_timestamp(ended_ms / 1000) as ended_at,
        duration_ms, response_code, error_code, error_message, headers, body, truncated = 1 as truncated, channel, receiver_id,
        provider_ref
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
        ${settled.map(({ outcome }) => (outcome.isTruncated === true ? 1 : 0))}::integer[],
        ${settled.map(({ receiver }) => receiver?.channel ?? null)}::text[],
        ${settled.map(({ receiver }) => receiver?.id ?? null)}::bigint[],
        ${settled.map(({ outcome }) => (outcome.kind === "delivered" ? (outcome.providerRef ?? null) : null))}::text[]
      ) as given (id, attempt, status, next_ms, ended_ms, duration_ms, response_code, error_code, error_message, headers,
        body, truncated, channel, receiver_id, provider_ref)
    ), locked as materialized (
      select id from deliveries where id = any(array(
        select id from given union all select f.id from deliveries as f join given on f.leader_id = given.id
      )) order by id for update
    ), own as (
      update deliveries as d
      set is_leased = false, is_ready = false, status = g.status, due_at = g.next_at, next_attempt_at = g.next_at,
        delivered_at = case when g.status = 'delivered' then g.ended_at end, response_code = g.response_code,
        error_code = g.error_code, error_message = g.error_message, duration_ms = g.duration_ms,
        provider_ref = g.provider_ref
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
      from given as g join locked using (id)
      where a.delivery_id = g.id and a.attempt = g.attempt and a.started_at between ${first} and ${last}
    ), judged as materialized (
      select channel, receiver_id, bool_or(status = 'delivered') as works, count(*) as attempts, max(ended_at) as ended_at
      from given where receiver_id is not null group by 1, 2
    ), known as materialized (
      select f.channel, f.receiver_id from failing_receivers as f join judged using (channel, receiver_id)
      order by 1, 2 for update of f
    ), recovered as (
      delete from failing_receivers as f using known as k, judged as j
      where f.channel = k.channel and f.receiver_id = k.receiver_id and j.channel = k.channel
        and j.receiver_id = k.receiver_id and j.works
    ), failing as (
      insert into failing_receivers (channel, receiver_id, failing_since, failures, next_attempt_at)
      select j.channel, j.receiver_id, j.ended_at, j.attempts, j.ended_at
      from judged as j left join known as k using (channel, receiver_id) where not j.works order by 1, 2
      on conflict (channel, receiver_id) do update
      set failures = failing_receivers.failures + excluded.failures, next_attempt_at = excluded.next_attempt_at
    )
    select id, status from own`;
}

/** How far a delivery has got. */
export interface DeliveryResult {
  readonly id: number;
  readonly status: DeliveryStatus;
  readonly responseCode: number | null;
  /** What failed; null if nothing has. */
  readonly error: string | null;
}

/** Reads how far deliveries of an account have got. Those that are gone are missing. */
export async function readResults(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<readonly DeliveryResult[]> {
  return sql<DeliveryResult[]>`
    select id, status, response_code as "responseCode", error_message as error from deliveries
    where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
}

/** A notice about an incident that was mailed to a recipient, or was not, or not yet. */
export interface NotedMail {
  readonly incidentId: number;
  /** Type of the event. */
  readonly type: string;
  readonly recipient: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** What failed; null if it was delivered. */
  readonly error: string | null;
  /** The delivery that was attempted; others have travelled with it. */
  readonly leaderId: number;
}

/** Reads the notices about incidents in the mails of these deliveries, in the order of their ids. */
export async function readNotedMails(tx: Transaction, ids: readonly number[]): Promise<readonly NotedMail[]> {
  return tx<NotedMail[]>`
    select e.incident_id as "incidentId", e.type, d.recipient, d.status, d.attempts, d.error_message as error,
      coalesce(d.leader_id, d.id) as "leaderId"
    from deliveries as d join events as e on e.id = d.event_id
    where d.id = any(array(
        select id from unnest(${[...ids]}::bigint[]) as id
        union all select f.id from deliveries as f where f.leader_id = any(${[...ids]}::bigint[])
      ))
      and d.channel = 'mail' and e.incident_id is not null and d.recipient is not null
    order by d.id`;
}

/** Finds the events about the monitor of a delivery that its receiver has got although they were created later. */
export async function findLaterEvents(
  sql: Sql,
  { id, channel, receiverId, createdAt, events: [{ id: eventId }] }: ClaimedDelivery,
  limit: number,
): Promise<readonly SentEvent[]> {
  return sql<SentEvent[]>`
    select e.id, e.type, e.body
    from deliveries as d join events as e on e.id = d.event_id
    where d.channel = ${channel} and d.receiver_id = ${receiverId} and d.released_at >= ${createdAt} and d.id > ${id}
      and d.status = 'delivered' and d.replay_of is null
      and e.monitor_id = (select monitor_id from events where id = ${eventId})
    order by d.id desc limit ${limit}`;
}

/** A delivery whose lease has ended. */
interface LostDelivery {
  readonly id: number;
  readonly attempt: number;
  readonly startedAt: Date;
  readonly leaseEndedAt: Date;
  /** Whether it is a test, which is attempted once. */
  readonly isTest: boolean;
}

/** Locks deliveries whose lease has ended, until the transaction ends. */
export async function lockLost(
  tx: Transaction,
  channel: Channel,
  now: Date,
  limit: number,
): Promise<readonly LostDelivery[]> {
  return tx<LostDelivery[]>`
    select id, attempts as attempt, due_at as "leaseEndedAt",
      coalesce((
        select started_at from delivery_attempts as a
        where a.delivery_id = deliveries.id and a.attempt = deliveries.attempts
      ), due_at) as "startedAt",
      (select type = 'test' from events where events.id = event_id) as "isTest"
    from deliveries
    where channel = ${channel} and due_at <= ${now} and is_leased
    order by due_at limit ${limit} for update skip locked`;
}

/**
 * Marks at most `limit` deliveries as dead that are overdue by OVERDUE_MS or more, with those that travel with them as
 * one mail. Returns the ids of the overdue ones.
 */
export async function endOverdue(
  sql: Queryable,
  channel: Channel,
  now: Date,
  limit: number,
): Promise<readonly number[]> {
  // It was created before it was due, so the index of unfinished deliveries finds it.
  const before = new Date(now.getTime() - OVERDUE_MS);
  const rows = await sql<{ id: number }[]>`
    with overdue as (
      select id from deliveries
      where channel = ${channel} and status in ('pending', 'retrying') and created_at <= ${before} and due_at <= ${before}
        and not is_leased
      order by created_at limit ${limit} for update skip locked
    ), ended as (
      update deliveries as d
      set status = 'dead', due_at = null, is_ready = false, next_attempt_at = null, error_code = 'not_attempted',
        error_message = 'No attempt was made within 48 hours of the due time.'
      from overdue where d.id = overdue.id or d.leader_id = overdue.id
      returning d.id
    )
    select id from overdue where exists (select from ended)`;
  return rows.map(({ id }) => id);
}
