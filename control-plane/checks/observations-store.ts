import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";

/** A name seen at an address; account 0 represents callers without an account. */
export interface NewObservation {
  readonly ip: string;
  readonly host: string;
  readonly accountId: number;
}

/** A name with the times at which it was first and last seen at an address. */
export interface SeenName {
  readonly host: string;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
}

/** Stores observations of the present moment. A statement must contain each address, account and name only once. */
export async function writeObservations(sql: Sql, seen: readonly NewObservation[], now: Date): Promise<void> {
  await sql`
    insert into observations as o (ip, host, account_id, first_seen, last_seen)
    select ip, host, account_id, ${now}, ${now}
    from ${given(sql, seen, { ip: "text", host: "text", accountId: "bigint" })}
    order by ip collate "C", account_id, host collate "C"
    on conflict (ip, account_id, host) do update set last_seen = greatest(o.last_seen, excluded.last_seen)`;
}

/** Returns the names seen at an address by callers without an account and by this account, newest first. */
export async function readObservations(
  sql: Sql,
  ip: string,
  accountId: number,
  limit: number,
): Promise<readonly SeenName[]> {
  return sql<SeenName[]>`
    select host, min(first_seen) as "firstSeen", max(last_seen) as "lastSeen" from observations
    where ip = ${ip} and account_id in (0, ${accountId})
    group by host order by max(last_seen) desc, host limit ${limit}`;
}

/** Deletes up to `limit` observations that were last seen before `before`. Returns how many. */
export async function pruneObservations(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from observations where (ip, account_id, host) in (
      select ip, account_id, host from observations where last_seen < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}

/** Deletes what an account has seen. */
export async function deleteObservations(sql: Queryable, accountId: number): Promise<void> {
  await sql`delete from observations where account_id = ${accountId}`;
}

/** Returns what an account has seen, for its data export. */
export async function exportObservations(sql: Queryable, accountId: number, limit: number): Promise<readonly object[]> {
  return sql<object[]>`
    select ip, host, first_seen, last_seen from observations
    where account_id = ${accountId} order by last_seen desc limit ${limit}`;
}
