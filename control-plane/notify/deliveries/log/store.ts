import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { DELIVERIES_CHANNEL } from "#control-plane/notify/deliveries/delivery.ts";
import { OVERTAKEN_CODE } from "#control-plane/notify/deliveries/later.ts";
import type { LogFilter, LoggedAttempt, LoggedDelivery } from "#control-plane/notify/deliveries/log/logged.ts";

/** Lists a page of an account's webhook deliveries that match a filter, newest first. */
export async function listLogged(
  sql: Queryable,
  accountId: number,
  filter: LogFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly LoggedDelivery[]> {
  return sql<LoggedDelivery[]>`
    select ${columns(sql)} from deliveries as d join events as e on e.id = d.event_id
    where ${matches(sql, accountId, filter)} order by d.id desc limit ${limit} offset ${offset}`;
}

/** Counts an account's webhook deliveries that match a filter. */
export async function countLogged(sql: Queryable, accountId: number, filter: LogFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from deliveries as d join events as e on e.id = d.event_id
    where ${matches(sql, accountId, filter)}`;
  return row?.total ?? 0;
}

/** Finds a webhook delivery of an account; null if it has none with this id. */
export async function findLogged(sql: Queryable, accountId: number, id: number): Promise<LoggedDelivery | null> {
  const [row] = await sql<LoggedDelivery[]>`
    select ${columns(sql)} from deliveries as d join events as e on e.id = d.event_id
    where ${matches(sql, accountId, {})} and d.id = ${id}`;
  return row ?? null;
}

/** Lists the attempts of a delivery, oldest first. */
export async function listAttempts(sql: Queryable, deliveryId: number): Promise<readonly LoggedAttempt[]> {
  return sql<LoggedAttempt[]>`
    select attempt, started_at as "startedAt", ended_at as "endedAt", response_code as "responseCode",
      error_code as "errorCode", error_message as "errorMessage", response_headers as "responseHeaders",
      response_body as "responseBody", truncated
    from delivery_attempts where delivery_id = ${deliveryId} order by attempt`;
}

/**
 * Inserts repetitions of webhook deliveries, due now, for those receivers, and wakes the queue when the transaction
 * commits. Returns their ids, in the order of the repeated ones.
 */
export async function insertReplays(
  tx: Transaction,
  accountId: number,
  deliveryIds: readonly number[],
  now: Date,
): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    with queued as (
      insert into deliveries (account_id, event_id, channel, receiver_id, due_at, released_at, is_ready, replay_of, created_at)
      select account_id, event_id, channel, receiver_id, ${now}, ${now}, true, id, ${now} from deliveries
      where account_id = ${accountId} and channel = 'webhook' and id = any(${[...deliveryIds]}::bigint[]) order by id
      returning id, channel
    ), woken as (
      select pg_notify(${DELIVERIES_CHANNEL}, channel) from (select distinct channel from queued) as channels
    )
    select id from queued where (select count(*) from woken) >= 0 order by id`;
  return rows.map(({ id }) => id);
}

/**
 * Returns the failed and dead deliveries of a webhook that were created since a time and whose event it has not got: of
 * each event the newest. What later events have overtaken is left out. At most `limit`, the oldest first.
 */
export async function findUndelivered(
  sql: Queryable,
  accountId: number,
  receiverId: number,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select max(d.id) as id from deliveries as d
    where d.account_id = ${accountId} and d.channel = 'webhook' and d.receiver_id = ${receiverId} and d.created_at >= ${since}
      and not exists (select from events as e where e.id = d.event_id and e.type = 'test')
    group by d.event_id
    having bool_and(d.status in ('failed', 'dead') and d.error_code is distinct from ${OVERTAKEN_CODE})
    order by 1 limit ${limit}`;
  return rows.map(({ id }) => id);
}

function columns(sql: Queryable) {
  return sql`d.id, d.receiver_id as "receiverId", d.event_id as "eventId", e.type as "eventType", d.status, d.attempts,
    d.response_code as "responseCode", d.error_code as "errorCode", d.error_message as "errorMessage",
    d.duration_ms as "durationMs", d.next_attempt_at as "nextAttemptAt", d.replay_of as "replayOf",
    d.provider_ref as "providerRef", d.created_at as "createdAt", d.delivered_at as "deliveredAt"`;
}

function matches(sql: Queryable, accountId: number, { receiverId, eventType, status }: LogFilter) {
  return sql`d.account_id = ${accountId} and d.channel = 'webhook'
    and ${receiverId === undefined ? sql`true` : sql`d.receiver_id = ${receiverId}`}
    and ${eventType === undefined ? sql`true` : sql`e.type = ${eventType}`}
    and ${status === undefined ? sql`true` : sql`d.status = ${status}`}`;
}
