import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import type {
  Channel,
  DeliveryStatus,
  FailingDeliveries,
  FailingQuery,
} from "#control-plane/notify/deliveries/delivery.ts";

/** Unfinished deliveries of a channel in one status. */
export interface DeliveryCount {
  readonly channel: Channel;
  readonly status: DeliveryStatus;
  readonly deliveries: number;
  /** Creation time of the oldest of them. */
  readonly oldestAt: Date;
}

/** Counts the deliveries that have not ended. */
export async function countUnfinished(sql: Sql): Promise<readonly DeliveryCount[]> {
  return sql<DeliveryCount[]>`
    select channel, status, count(*) as deliveries, min(created_at) as "oldestAt" from deliveries
    where status in ('pending', 'retrying') group by 1, 2 order by 1, 2`;
}

/** Counts the mails, to recipients and to subscribers, that keep failing. The ids of monitors are at most `mostIds`. */
export async function countFailing(
  sql: Queryable,
  { failingBefore, since, serverFaults, mostIds }: FailingQuery,
): Promise<FailingDeliveries> {
  const [row] = await sql<FailingDeliveries[]>`
    with receivers as materialized (
      select channel, receiver_id, next_attempt_at as failed_at from failing_receivers
      where channel in ('mail', 'page') and failing_since <= ${failingBefore}
    ), taken as (
      select greatest(
        (select max(delivered_at) from deliveries where channel = 'mail' and delivered_at is not null),
        (select max(delivered_at) from deliveries where channel = 'page' and delivered_at is not null)
      ) as at
    ), failing as (
      select d.event_id, d.leader_id, d.created_at, d.error_message
      from deliveries as d join receivers as r using (channel, receiver_id) cross join taken
      where (d.status = 'retrying' or (d.status = 'dead' and d.created_at > ${since}))
        and not (d.error_code = any(${[...serverFaults]}::text[]) and coalesce(taken.at > r.failed_at, false))
    )
    select count(*) filter (where f.leader_id is null) as deliveries, count(distinct e.monitor_id) as "monitorCount",
      coalesce((array_agg(distinct e.monitor_id) filter (where e.monitor_id is not null))[1:${mostIds}], '{}')
        as "monitorIds",
      (array_agg(f.error_message order by f.created_at desc) filter (where f.error_message is not null))[1] as error
    from failing as f join events as e on e.id = f.event_id`;
  return row ?? { deliveries: 0, monitorCount: 0, monitorIds: [], error: null };
}

/** Forgets the failures of receivers of mail to whom no delivery is known any more. */
export async function forgetStrangers(sql: Sql): Promise<void> {
  await sql`
    delete from failing_receivers as f where channel in ('mail', 'page') and not exists (
      select from deliveries as d where d.channel = f.channel and d.receiver_id = f.receiver_id
    )`;
}

/**
 * Deletes ended deliveries created before a time, with their attempts. It locks the deliveries first, as settleAttempts
 * does, and leaves locked ones to the next round. Returns how many, at most `limit`.
 */
export async function deleteEnded(sql: Sql, before: Date, limit: number): Promise<number> {
  const [row] = await sql<{ deleted: number }[]>`
    with old as materialized (
      select id from deliveries
      where created_at < ${before} and status in ('delivered', 'failed', 'dead') order by created_at, id limit ${limit}
      for update skip locked
    ), attempts as (
      delete from delivery_attempts where delivery_id in (select id from old)
    ), deleted as (
      delete from deliveries where id in (select id from old)
    )
    select count(*) as deleted from old`;
  return row?.deleted ?? 0;
}

/** Deletes the attempts of all deliveries of an account. It locks the deliveries first, by id, as settleAttempts does. */
export async function deleteAttempts(sql: Queryable, accountId: number): Promise<void> {
  await sql`
    with locked as materialized (
      select id from deliveries where account_id = ${accountId} order by id for update
    )
    delete from delivery_attempts where delivery_id in (select id from locked)`;
}

/** Deletes events created before a time that have no deliveries left. Returns how many, at most `limit`. */
export async function deleteEvents(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from events where id in (
      select id from events as e
      where created_at < ${before} and not exists (select from deliveries as d where d.event_id = e.id)
      order by created_at limit ${limit}
    )`;
  return count;
}

/** A delivery as its account's data export shows it. */
interface ExportedDelivery {
  readonly id: number;
  readonly event_id: string;
  readonly channel: Channel;
  readonly recipient: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly created_at: Date;
  readonly delivered_at: Date | null;
  readonly error_code: string | null;
}

/** Lists the deliveries of an account, newest first. */
export async function listDeliveries(
  sql: Queryable,
  accountId: number,
  limit: number,
): Promise<readonly ExportedDelivery[]> {
  return sql<ExportedDelivery[]>`
    select id, event_id, channel, recipient, status, attempts, created_at, delivered_at, error_code from deliveries
    where account_id = ${accountId} order by id desc limit ${limit}`;
}
