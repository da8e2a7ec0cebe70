import type { Queryable, Transaction } from "#control-plane/database/connect.ts";

/** What limits sign-ins: the SHA-256, in hex, of a user or a client address, and how many attempts it has. */
interface AttemptLimit {
  readonly subject: string;
  readonly limit: number;
}

/**
 * Inserts an attempt under each subject, unless one of them has as many since `since` as its limit. Returns the ids of the
 * attempts, or the oldest attempt that counts against the limit. Concurrent attempts at a subject wait for each other, so
 * that none is left out of the count.
 */
export async function insertAttempts(
  tx: Transaction,
  limits: readonly AttemptLimit[],
  { now, since }: { readonly now: Date; readonly since: Date },
): Promise<{ readonly ok: true; readonly ids: readonly number[] } | { readonly ok: false; readonly oldest: Date }> {
  const subjects = limits.map(({ subject }) => subject);
  await tx`
    select pg_advisory_xact_lock(key) from (
      select ('x' || left(hex, 16))::bit(64)::bigint as key from unnest(${subjects}::text[]) as hex order by key
    ) as keys`;
  const [full] = await tx<{ oldest: Date }[]>`
    select oldest from (
      select given.most, count(*) as made, min(attempted_at) as oldest
      from unnest(${subjects}::text[], ${limits.map(({ limit }) => limit)}::integer[]) as given (hex, most)
        join sign_in_attempts on subject = decode(hex, 'hex') and attempted_at > ${since}
      group by hex, most
    ) as counted where made >= most order by oldest desc limit 1`;
  if (full !== undefined) return { ok: false, oldest: full.oldest };
  const rows = await tx<{ id: number }[]>`
    insert into sign_in_attempts (subject, attempted_at)
    select decode(hex, 'hex'), ${now} from unnest(${subjects}::text[]) as hex returning id`;
  return { ok: true, ids: rows.map(({ id }) => id) };
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
