import type { Queryable, Transaction } from "#control-plane/database/connect.ts";

/**
 * Counts the attempts since `since` under subjects (hex), with the time of the oldest; one without any is missing.
 * Concurrent attempts at a subject wait for each other until the transaction ends, so that none is left out of the count.
 */
export async function countAttempts(
  tx: Transaction,
  subjects: readonly string[],
  since: Date,
): Promise<ReadonlyMap<string, { readonly made: number; readonly oldest: Date }>> {
  await tx`
    select pg_advisory_xact_lock(key) from (
      select ('x' || left(hex, 16))::bit(64)::bigint as key from unnest(${[...subjects]}::text[]) as hex order by key
    ) as keys`;
  const rows = await tx<{ hex: string; made: number; oldest: Date }[]>`
    select hex, count(*) as made, min(attempted_at) as oldest
    from unnest(${[...subjects]}::text[]) as hex
      join sign_in_attempts on subject = decode(hex, 'hex') and attempted_at > ${since}
    group by hex`;
  return new Map(rows.map(({ hex, made, oldest }) => [hex, { made, oldest }]));
}

/** Inserts an attempt under each subject (hex). Returns the ids of the attempts. */
export async function insertAttempts(
  tx: Transaction,
  subjects: readonly string[],
  now: Date,
): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    insert into sign_in_attempts (subject, attempted_at)
    select decode(hex, 'hex'), ${now} from unnest(${[...subjects]}::text[]) as hex returning id`;
  return rows.map(({ id }) => id);
}

/** Deletes attempts: they did not fail. */
export async function deleteAttempts(sql: Queryable, ids: readonly number[]): Promise<void> {
  await sql`delete from sign_in_attempts where id = any(${[...ids]}::bigint[])`;
}

/** Deletes up to `limit` attempts from before `before`. Returns how many. */
export async function deleteOldAttempts(sql: Queryable, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from sign_in_attempts where id in (
      select id from sign_in_attempts where attempted_at <= ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
