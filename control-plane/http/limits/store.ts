import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { Windows } from "#control-plane/http/access/windows.ts";

/** Requests of one account to count in a statement, all of one kind. */
export interface RequestsToCount {
  readonly accountId: number;
  readonly requests: number;
  /** Whether they count against the day. Not for requests that run no check, e.g. methods of /mcp except tools/call. */
  readonly countsDay: boolean;
  readonly minuteLimit: number;
  readonly dayLimit: number;
}

/** Counts of an account after the statement, including the granted requests. */
export interface RequestCount {
  readonly accountId: number;
  readonly minute: number;
  readonly minuteCount: number;
  readonly day: number;
  readonly dayCount: number;
  /** Number of the requests that are admitted. */
  readonly granted: number;
}

// PostgreSQL's largest integer, used as "no limit".
const MOST = 2_147_483_647;

/**
 * Counts the waiting requests of all accounts in one atomic statement, exactly even with several replicas. Each row is
 * locked and counts only the requests that its minute and day still allow; a refused request is not counted. Rows are
 * locked in the order of their ids, so that two replicas cannot deadlock.
 *
 * A replica whose clock is slightly behind at the end of a window counts in the window that has already begun. A row
 * further ahead was written with a wrong clock that has since been corrected; its counts start again from 0.
 */
export async function countRequests(
  sql: Sql,
  windows: Windows,
  asks: readonly RequestsToCount[],
): Promise<readonly RequestCount[]> {
  const minuteUsed = sql`case when c.minute in (excluded.minute, excluded.minute + 1) then c.minute_count else 0 end`;
  const dayUsed = sql`case when c.day in (excluded.day, excluded.day + 1) then c.day_count else 0 end`;
  // excluded.granted is the number requested, cut to the limits; excluded.day_count the same, or 0 for minute-only
  // ones.
  const granted = sql`greatest(0, least(
    excluded.granted, excluded.minute_limit - (${minuteUsed}), excluded.day_limit - (${dayUsed})))`;
  return sql<RequestCount[]>`
    insert into request_counts as c
      (account_id, minute, minute_count, minute_limit, day, day_count, day_limit, granted)
    select account_id, ${windows.minute}, granted, minute_limit,
      ${windows.day}, granted * day_weight, day_limit, granted
    from (
      select account_id, minute_limit, day_cap as day_limit, day_weight, least(requests, minute_limit, day_cap) as granted
      from ${given(
        sql,
        asks.map((ask) => ({ ...ask, dayWeight: ask.countsDay ? 1 : 0 })),
        { accountId: "bigint", requests: "integer", minuteLimit: "integer", dayLimit: "integer", dayWeight: "integer" },
        { as: "ask" },
      )}
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

/** Returns how many requests of an account count in the minute and the day of these windows. */
export async function readRequestCounts(
  sql: Queryable,
  accountId: number,
  { minute, day }: Windows,
): Promise<{ readonly minute: number; readonly day: number }> {
  const [row] = await sql<{ minute: number; day: number }[]>`
    select case when minute >= ${minute} then minute_count else 0 end as minute,
      case when day >= ${day} then day_count else 0 end as day
    from request_counts where account_id = ${accountId}`;
  return row ?? { minute: 0, day: 0 };
}

/** Deletes the counts of accounts without a request since the given day (days since the epoch). */
export async function pruneCounts(sql: Sql, beforeDay: number): Promise<number> {
  const { count } = await sql`delete from request_counts where day < ${beforeDay}`;
  return count;
}

/** Deletes the counts of one account. */
export async function deleteCounts(sql: Queryable, accountId: number): Promise<void> {
  await sql`delete from request_counts where account_id = ${accountId}`;
}

/** Calls at one target to count in a statement. */
export interface CallsToCount {
  readonly target: string;
  /** Calls of callers with an account. */
  readonly named: number;
  /** Calls of callers without an account. */
  readonly anonymous: number;
}

/** Number of the calls at one target that are admitted, and the minute in which they count. */
export interface TargetCount {
  readonly target: string;
  readonly minute: number;
  readonly namedGranted: number;
  readonly anonymousGranted: number;
}

/**
 * Counts the waiting calls at all targets in one atomic statement, exactly even with several replicas, as countRequests
 * does. A refused call is not counted, so callers without an account never use up the budget of the others.
 */
export async function countTargets(
  sql: Sql,
  minute: number,
  limits: { readonly all: number; readonly anonymous: number },
  asks: readonly CallsToCount[],
): Promise<readonly TargetCount[]> {
  const isCurrent = sql`c.minute in (excluded.minute, excluded.minute + 1)`;
  const named = sql`case when ${isCurrent} then c.named else 0 end`;
  const anonymous = sql`case when ${isCurrent} then c.anonymous else 0 end`;
  // excluded.*_granted is the number requested, cut to the limits.
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
      from ${given(sql, asks, { target: "text", named: "integer", anonymous: "integer" }, { as: "ask" })}
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

/** Deletes the counts of targets without a call since the given minute (minutes since the epoch). */
export async function pruneTargets(sql: Sql, beforeMinute: number): Promise<number> {
  const { count } = await sql`delete from target_counts where minute < ${beforeMinute}`;
  return count;
}
