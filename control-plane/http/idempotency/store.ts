import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";

/** A stored answer. */
interface KeptAnswer {
  readonly fingerprint: Uint8Array;
  /** The answer, encrypted (secrets/encryption.ts). */
  readonly answer: Uint8Array;
}

/** What is stored for a scope: an answer, or a write that has begun. */
type KeptRow =
  | (KeptAnswer & { readonly reference: null; readonly runningUntil: null })
  | {
      readonly fingerprint: Uint8Array;
      readonly answer: null;
      /** What finds the result, encrypted. */
      readonly reference: Uint8Array;
      readonly runningUntil: Date;
    };

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

/** Finds what is stored for a scope; null if there is nothing or it has expired. */
export async function findAnswer(tx: Transaction, scope: Uint8Array, now: Date): Promise<KeptRow | null> {
  const [row] = await tx<KeptRow[]>`
    select fingerprint, answer, case when answer is null then reference end as reference, running_until as "runningUntil"
    from idempotent_answers where scope = ${scope} and expires_at > ${now}`;
  return row ?? null;
}

/** Stores that a write has begun, in place of what has expired with the same scope. */
export async function keepBegun(
  tx: Transaction,
  begun: {
    readonly scope: Uint8Array;
    readonly accountId: number;
    readonly fingerprint: Uint8Array;
    readonly reference: Uint8Array;
    readonly runningUntil: Date;
  },
  expiresAt: Date,
): Promise<void> {
  const { scope, accountId, fingerprint, reference, runningUntil } = begun;
  await tx`
    insert into idempotent_answers (scope, account_id, fingerprint, reference, running_until, expires_at)
    values (${scope}, ${accountId}, ${fingerprint}, ${reference}, ${runningUntil}, ${expiresAt})
    on conflict (scope) do update
    set fingerprint = excluded.fingerprint, answer = null, reference = excluded.reference,
      running_until = excluded.running_until, expires_at = excluded.expires_at`;
}

/** Stores the answer of a write that had begun. */
export async function settleBegun(
  sql: Sql,
  { scope, fingerprint, answer }: KeptAnswer & { readonly scope: Uint8Array },
  expiresAt: Date,
): Promise<void> {
  await sql`
    update idempotent_answers set answer = ${answer}, running_until = null, expires_at = ${expiresAt}
    where scope = ${scope} and fingerprint = ${fingerprint} and answer is null`;
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
    set fingerprint = excluded.fingerprint, answer = excluded.answer, reference = null, running_until = null,
      expires_at = excluded.expires_at`;
}

/** Deletes up to `limit` expired answers. Returns how many. */
export async function deleteExpiredAnswers(sql: Sql, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from idempotent_answers where scope in (
      select scope from idempotent_answers where expires_at <= ${now} limit ${limit} for update skip locked
    )`;
  return count;
}
