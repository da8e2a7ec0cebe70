import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import type { Windows } from "#control-plane/access/windows.ts";

/** What one account asks of a statement: so many requests, all of one kind. */
export interface Ask {
  readonly accountId: number;
  readonly requests: number;
  /** false: counted against the minute only, e.g. methods of /mcp other than tools/call, which run no check. */
  readonly countsDay: boolean;
  readonly minuteLimit: number;
  readonly dayLimit: number;
}

/** An account's counts after the statement, the granted requests included. */
export interface Count {
  readonly accountId: number;
  readonly minute: number;
  readonly minuteCount: number;
  readonly day: number;
  readonly dayCount: number;
  /** How many of the asked requests may go on. */
  readonly granted: number;
}

// The largest integer of PostgreSQL: no limit.
const MOST = 2_147_483_647;

/**
 * Counts every waiting request of every account in one atomic statement, exact across replicas: each row is locked,
 * asked for what is left of its minute and day, and takes only what it grants; a refused request consumes nothing.
 * Rows are taken in the order of their ids, so that two replicas never wait for each other.
 *
 * A replica that comes a moment late to a window's end counts in the window that has begun. A row further ahead than
 * that was written by a clock that has since been put right, and starts anew.
 */
export async function countRequests(sql: Sql, windows: Windows, asks: readonly Ask[]): Promise<readonly Count[]> {
  const minuteUsed = sql`case when c.minute in (excluded.minute, excluded.minute + 1) then c.minute_count else 0 end`;
  const dayUsed = sql`case when c.day in (excluded.day, excluded.day + 1) then c.day_count else 0 end`;
  // excluded.granted is what was asked, cut to the limits; excluded.day_count the same, or 0 for minute-only requests.
  const granted = sql`greatest(0, least(
    excluded.granted, excluded.minute_limit - (${minuteUsed}), excluded.day_limit - (${dayUsed})))`;
  return sql<Count[]>`
    insert into request_counts as c
      (account_id, minute, minute_count, minute_limit, day, day_count, day_limit, granted)
    select account_id, ${windows.minute}, granted, minute_limit,
      ${windows.day}, granted * day_weight, day_limit, granted
    from (
      select account_id, minute_limit, day_cap as day_limit, day_weight, least(requests, minute_limit, day_cap) as granted
      from unnest(
        ${asks.map((ask) => ask.accountId)}::bigint[],
        ${asks.map((ask) => ask.requests)}::integer[],
        ${asks.map((ask) => ask.minuteLimit)}::integer[],
        ${asks.map((ask) => ask.dayLimit)}::integer[],
        ${asks.map((ask) => (ask.countsDay ? 1 : 0))}::integer[]
      ) as ask (account_id, requests, minute_limit, day_limit, day_weight)
      cross join lateral (select case when day_weight = 1 then day_limit else ${MOST} end as day_cap) as cap
    ) as asks
    order by account_id
    on conflict (account_id) do update set
      minute = case when c.minute = excluded.minute + 1 then c.minute else excluded.minute end,
      minute_count = (${minuteUsed}) + ${granted},
      minute_limit = excluded.minute_limit,
      day = case when c.day = excluded.day + 1 then c.day else excluded.day end,
      day_count = (${dayUsed}) + least(${granted}, excluded.day_count),
      day_limit = excluded.day_limit,
      granted = ${granted}
    returning account_id as "accountId", minute, minute_count as "minuteCount", day, day_count as "dayCount", granted`;
}

/** Drops the counts of accounts that have not asked since the given day (days since the epoch). */
export async function pruneCounts(sql: Sql, beforeDay: number): Promise<number> {
  const { count } = await sql`delete from request_counts where day < ${beforeDay}`;
  return count;
}

/** Drops one account's counts. */
export async function deleteCounts(sql: Queryable, accountId: number): Promise<void> {
  await sql`delete from request_counts where account_id = ${accountId}`;
}

/** What the calls at one target ask of a statement. */
export interface TargetAsk {
  readonly target: string;
  /** Calls of callers with an account, and of those without. */
  readonly named: number;
  readonly anonymous: number;
}

/** How many of the asked calls may go on, and the minute they count in. */
export interface TargetCount {
  readonly target: string;
  readonly minute: number;
  readonly namedGranted: number;
  readonly anonymousGranted: number;
}

/**
 * Counts every waiting call at every target in one atomic statement, exact across replicas, as countRequests does: what
 * is refused consumes nothing, so that callers without an account never use up what the others have.
 */
export async function countTargets(
  sql: Sql,
  minute: number,
  limits: { readonly all: number; readonly anonymous: number },
  asks: readonly TargetAsk[],
): Promise<readonly TargetCount[]> {
  const isCurrent = sql`c.minute in (excluded.minute, excluded.minute + 1)`;
  const named = sql`case when ${isCurrent} then c.named else 0 end`;
  const anonymous = sql`case when ${isCurrent} then c.anonymous else 0 end`;
  // excluded.*_granted is what was asked, cut to the limits.
  const namedGranted = sql`greatest(0, least(
    excluded.named_granted, ${limits.all}::integer - (${named}) - (${anonymous})))`;
  const anonymousGranted = sql`greatest(0, least(
    excluded.anonymous_granted,
    ${limits.anonymous}::integer - (${anonymous}),
    ${limits.all}::integer - (${named}) - (${anonymous}) - ${namedGranted}))`;
  return sql<TargetCount[]>`
    insert into target_counts as c (target, minute, named, anonymous, named_granted, anonymous_granted)
    select target, ${minute}, named, least(anonymous, ${limits.all}::integer - named),
      named, least(anonymous, ${limits.all}::integer - named)
    from (
      select target, least(named, ${limits.all}::integer) as named,
        least(anonymous, ${limits.anonymous}::integer) as anonymous
      from unnest(
        ${asks.map((ask) => ask.target)}::text[],
        ${asks.map((ask) => ask.named)}::integer[],
        ${asks.map((ask) => ask.anonymous)}::integer[]
      ) as ask (target, named, anonymous)
    ) as asks
    order by target collate "C"
    on conflict (target) do update set
      minute = case when c.minute = excluded.minute + 1 then c.minute else excluded.minute end,
      named = (${named}) + ${namedGranted},
      anonymous = (${anonymous}) + ${anonymousGranted},
      named_granted = ${namedGranted},
      anonymous_granted = ${anonymousGranted}
    returning target, minute, named_granted as "namedGranted", anonymous_granted as "anonymousGranted"`;
}

/** Drops the counts of targets nobody has asked for since the given minute (minutes since the epoch). */
export async function pruneTargets(sql: Sql, beforeMinute: number): Promise<number> {
  const { count } = await sql`delete from target_counts where minute < ${beforeMinute}`;
  return count;
}
