import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import {
  MOST_EVENTS,
  type Channel,
  type ClaimedDelivery,
  type SentEvent,
} from "#control-plane/notify/deliveries/delivery.ts";
import { OVERDUE_MS } from "#control-plane/notify/deliveries/transition.ts";

/** What to claim. */
interface ClaimRequest {
  readonly channel: Channel;
  /** Maximum number of deliveries. */
  readonly limit: number;
  /** Maximum number of attempts at the same time for one receiver. */
  readonly perReceiver: number;
  /** Maximum number of claimed attempts for receivers that are failing; each gets one at a time. null: no receiver is. */
  readonly probes: number | null;
  /** Number of this replica's attempts in progress by receiver. */
  readonly inProgress: ReadonlyMap<number, number>;
  /** Receivers with a greater id are looked at. */
  readonly after: number;
  readonly leaseEndsAt: Date;
  readonly now: Date;
}

/** What was claimed. */
interface Claim {
  readonly claimed: readonly ClaimedDelivery[];
  /** The last receiver that was looked at; null if there are no further ones. */
  readonly lookedTo: number | null;
}

type ClaimedRow = Omit<ClaimedDelivery, "events" | "count" | "channel" | "startedAt"> & {
  readonly eventId: string;
  readonly type: string;
  readonly body: string;
  readonly followers: number;
  readonly followerIds: string[] | null;
  readonly followerTypes: string[] | null;
  readonly followerBodies: string[] | null;
};

/** Maximum number of receivers that one claim looks at. */
const MOST_RECEIVERS = 256;

/**
 * Claims the next attempt of deliveries that are ready: of each receiver those that are due longest, and of every receiver
 * one before a second of any. The index is read receiver by receiver, so that what waits for one of them is not read for
 * the others. Rows that another replica is claiming are skipped. The attempt counts from now on, also if this process
 * stops.
 */
export async function claimDeliveries(sql: Sql, request: ClaimRequest): Promise<Claim> {
  const { channel, limit, perReceiver, probes, inProgress, after, leaseEndsAt, now } = request;
  const rows = await sql<(ClaimedRow | { readonly id: null; readonly receiverId: number })[]>`
    with recursive receivers as (
      (
        select receiver_id, 1 as place from deliveries
        where channel = ${channel} and is_ready and receiver_id > ${after} order by receiver_id limit 1
      )
      union all
      select next.receiver_id, r.place + 1 from receivers as r cross join lateral (
        select receiver_id from deliveries
        where channel = ${channel} and is_ready and receiver_id > r.receiver_id order by receiver_id limit 1
      ) as next
      where r.place < ${MOST_RECEIVERS}
    ), failing as materialized (
      select receiver_id from failing_receivers
      where channel = ${channel} and ${probes !== null} and receiver_id = any(array(select receiver_id from receivers))
    ), probed as materialized (
      select receiver_id from failing_receivers
      where channel = ${channel} and receiver_id = any(array(select receiver_id from failing)) and next_attempt_at <= ${now}
      order by receiver_id limit ${probes ?? 0} for update skip locked
    ), room as (
      select r.receiver_id, f.receiver_id is not null as is_probe,
        case when f.receiver_id is null then ${perReceiver} when p.receiver_id is null then 0 else 1 end
          - coalesce(busy.attempts, 0) as attempts
      from receivers as r
      left join failing as f using (receiver_id) left join probed as p using (receiver_id)
      left join unnest(
        ${[...inProgress.keys()]}::bigint[], ${[...inProgress.values()]}::integer[]
      ) as busy (receiver_id, attempts) using (receiver_id)
    ), found as materialized (
      select d.id, d.due_at, room.receiver_id, room.is_probe,
        row_number() over (partition by room.receiver_id order by d.due_at, d.id) as place
      from room cross join lateral (
        select id, due_at from deliveries
        where channel = ${channel} and receiver_id = room.receiver_id and is_ready
          and due_at > ${new Date(now.getTime() - OVERDUE_MS)}
        order by due_at, id limit greatest(0, room.attempts) for update skip locked
      ) as d
    ), chosen as materialized (
      select id, receiver_id, is_probe from found order by place, due_at, id limit ${limit}
    ), held as (
      update failing_receivers as f set next_attempt_at = ${leaseEndsAt}
      from (select distinct receiver_id from chosen where is_probe) as c
      where f.channel = ${channel} and f.receiver_id = c.receiver_id
    ), claimed as (
      update deliveries as d set is_leased = true, is_ready = false, attempts = attempts + 1, due_at = ${leaseEndsAt}
      from chosen where d.id = chosen.id
      returning d.id, d.account_id, d.receiver_id, d.recipient, d.attempts, d.event_id, d.created_at, chosen.is_probe
    ), begun as (
      insert into delivery_attempts (delivery_id, attempt, started_at) select id, attempts, ${now} from claimed
    )
    select c.id, c.account_id as "accountId", c.receiver_id as "receiverId", c.recipient, c.attempts as attempt,
      c.is_probe as "isProbe", c.created_at as "createdAt", e.id as "eventId", e.type, e.body,
      coalesce(f.total, 0)::integer as followers, f.ids as "followerIds", f.types as "followerTypes",
      f.bodies as "followerBodies"
    from claimed as c join events as e on e.id = c.event_id cross join lateral (
      select array_agg(one.id order by one.place) as ids, array_agg(one.type order by one.place) as types,
        array_agg(one.body order by one.place) as bodies, max(one.total) as total
      from (
        select fe.id, fe.type, fe.body, row_number() over (order by fd.id) as place, count(*) over () as total
        from deliveries as fd join events as fe on fe.id = fd.event_id where fd.leader_id = c.id
        order by fd.id limit ${MOST_EVENTS - 1}
      ) as one
    ) as f
    union all
    select null, null, max(receiver_id), null, null, null, null, null, null, null, null, null, null, null from receivers
    having count(*) = ${MOST_RECEIVERS}
    order by 1`;
  const claimed = rows.flatMap((row) => (row.id === null ? [] : [toClaimed({ channel, startedAt: now }, row)]));
  return { claimed, lookedTo: rows.find(({ id }) => id === null)?.receiverId ?? null };
}

function toClaimed(claim: Pick<ClaimedDelivery, "channel" | "startedAt">, row: ClaimedRow): ClaimedDelivery {
  const { eventId, type, body, followers, followerIds, followerTypes, followerBodies, ...delivery } = row;
  const others = (followerIds ?? []).map((id, at): SentEvent => {
    return { id, type: followerTypes?.[at] ?? "", body: followerBodies?.[at] ?? "" };
  });
  return { ...delivery, ...claim, events: [{ id: eventId, type, body }, ...others], count: followers + 1 };
}

/** Makes at most `limit` deliveries ready whose next attempt is due. Returns their number. */
export async function ripenDeliveries(sql: Sql, channel: Channel, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    with due as (
      select id from deliveries
      where channel = ${channel} and due_at <= ${now} and due_at > ${new Date(now.getTime() - OVERDUE_MS)}
        and not is_ready and not is_leased and released_at is not null
      order by due_at limit ${limit} for update skip locked
    )
    update deliveries as d set is_ready = true from due where d.id = due.id`;
  return count;
}

/** Extends the leases of attempts in progress. */
export async function renewLeases(
  sql: Sql,
  attempts: readonly Pick<ClaimedDelivery, "id" | "attempt">[],
  leaseEndsAt: Date,
): Promise<void> {
  await sql`
    with held as materialized (
      select d.id from deliveries as d join ${given(sql, attempts, { id: "bigint", attempt: "integer" })}
        on d.id = given.id and d.attempts = given.attempt
      where d.is_leased order by d.id for update of d
    )
    update deliveries as d set due_at = ${leaseEndsAt} from held where d.id = held.id`;
}

/** Extends the times for which these receivers, which are failing, have an attempt in progress. */
export async function renewProbes(
  sql: Sql,
  channel: Channel,
  receiverIds: readonly number[],
  leaseEndsAt: Date,
): Promise<void> {
  await sql`
    with held as materialized (
      select receiver_id from failing_receivers
      where channel = ${channel} and receiver_id = any(${[...receiverIds]}::bigint[]) order by receiver_id for update
    )
    update failing_receivers as f set next_attempt_at = ${leaseEndsAt}
    from held where f.channel = ${channel} and f.receiver_id = held.receiver_id`;
}

/** Inserts a delivery of an event of which the caller makes the first attempt now. Returns it as claimed. */
export async function insertClaimed(
  tx: Transaction,
  delivery: {
    readonly accountId: number;
    readonly eventId: string;
    readonly channel: Channel;
    readonly receiverId: number;
    /** Address of a mail; null or absent for webhooks. */
    readonly recipient?: string | null;
  },
  { leaseEndsAt, now }: { readonly leaseEndsAt: Date; readonly now: Date },
): Promise<ClaimedDelivery> {
  const { accountId, eventId, channel, receiverId, recipient = null } = delivery;
  const [row] = await tx<{ id: number; type: string; body: string }[]>`
    with made as (
      insert into deliveries (account_id, event_id, channel, receiver_id, recipient, attempts, is_leased, due_at, released_at,
        created_at)
      values (${accountId}, ${eventId}, ${channel}, ${receiverId}, ${recipient}, 1, true, ${leaseEndsAt}, ${now}, ${now})
      returning id, event_id
    ), begun as (
      insert into delivery_attempts (delivery_id, attempt, started_at) select id, 1, ${now} from made
    )
    select made.id, e.type, e.body from made join events as e on e.id = made.event_id`;
  if (row === undefined) throw new Error("the delivery was not inserted");
  const { id, type, body } = row;
  return {
    id,
    accountId,
    channel,
    receiverId,
    recipient,
    attempt: 1,
    startedAt: now,
    isProbe: false,
    createdAt: now,
    events: [{ id: eventId, type, body }],
    count: 1,
  };
}
