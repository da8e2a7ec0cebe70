import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";

/**
 * Finds the subjects (hex) under which at least `most` attempts were made since `since`, each with the attempt after whose
 * end there are fewer. Concurrent attempts at a subject wait for each other until the transaction ends, so that none is
 * left out of the count.
 */
export async function findFull(
  tx: Transaction,
  counters: readonly { readonly subject: string; readonly most: number }[],
  since: Date,
): Promise<ReadonlyMap<string, Date>> {
  const subjects = counters.map(({ subject }) => subject);
  await tx`
    select pg_advisory_xact_lock(key) from (
      select ('x' || left(hex, 16))::bit(64)::bigint as key from unnest(${subjects}::text[]) as hex order by key
    ) as keys`;
  const rows = await tx<{ hex: string; last: Date }[]>`
    select hex, last from (
      select hex, (array_agg(attempted_at order by attempted_at desc))[most] as last
      from unnest(${subjects}::text[], ${counters.map(({ most }) => most)}::integer[]) as given (hex, most)
        join sign_in_attempts on subject = decode(hex, 'hex') and attempted_at > ${since}
      group by hex, most
    ) as counted where last is not null`;
  return new Map(rows.map(({ hex, last }) => [hex, last]));
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
