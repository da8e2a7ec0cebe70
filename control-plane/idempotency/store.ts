import type { Sql, Transaction } from "#control-plane/database/connect.ts";

/** A stored answer. */
interface KeptAnswer {
  readonly fingerprint: Uint8Array;
  /** The answer, encrypted (secrets/encryption.ts). */
  readonly answer: Uint8Array;
}

/** Takes the advisory lock of this number until the transaction ends. Returns false if another transaction has it. */
export async function tryLock(tx: Transaction, lock: string): Promise<boolean> {
  const [row] = await tx<{ got: boolean }[]>`select pg_try_advisory_xact_lock(${lock}::text::bigint) as got`;
  return row?.got ?? false;
}

/**
 * Keeps an account from being erased until the transaction ends. The stored answer refers to it, so the transaction
 * needs this lock at its end: taken after what the write locks, it could deadlock with an erasure.
 */
export async function shareAccount(tx: Transaction, accountId: number): Promise<void> {
  await tx`select from accounts where id = ${accountId} for key share`;
}

/** Finds the answer stored for a scope; null if there is none or it has expired. */
export async function findAnswer(tx: Transaction, scope: Uint8Array, now: Date): Promise<KeptAnswer | null> {
  const [row] = await tx<KeptAnswer[]>`
    select fingerprint, answer from idempotent_answers where scope = ${scope} and expires_at > ${now}`;
  return row ?? null;
}

/** Stores an answer, in place of an expired one with the same scope. */
export async function keepAnswer(
  tx: Transaction,
  { scope, accountId, fingerprint, answer }: KeptAnswer & { readonly scope: Uint8Array; readonly accountId: number },
  expiresAt: Date,
): Promise<void> {
  await tx`
    insert into idempotent_answers (scope, account_id, fingerprint, answer, expires_at)
    values (${scope}, ${accountId}, ${fingerprint}, ${answer}, ${expiresAt})
    on conflict (scope) do update
    set fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at`;
}

/** Deletes up to `limit` expired answers. Returns how many. */
export async function deleteExpiredAnswers(sql: Sql, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotent_answers where scope in (
      select scope from idempotent_answers where expires_at <= ${now} limit ${limit} for update skip locked
    )`;
  return count;
}
