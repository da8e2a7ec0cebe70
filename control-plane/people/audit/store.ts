import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";

/** A secret as it is stored. */
export interface StoredSecret {
  readonly kid: string;
  /** Encrypted. */
  readonly secret: Uint8Array;
  readonly createdAt: Date;
  /** null if it was never shown. */
  readonly shownAt: Date | null;
  /** null: it signs now. */
  readonly retiredAt: Date | null;
}

/** A secret to insert. */
type NewSecret = Pick<StoredSecret, "kid" | "secret" | "shownAt"> & { readonly accountId: number };

/** Locks an account until the transaction ends. Returns false if there is none. */
export async function lockAccount(tx: Transaction, accountId: number): Promise<boolean> {
  const { count } = await tx`select from accounts where id = ${accountId} for no key update`;
  return count > 0;
}

/** Inserts a secret, unless the account has one that signs: then it returns false. */
export async function insertSecret(sql: Queryable, made: NewSecret, now: Date): Promise<boolean> {
  const { count } = await sql`
    insert into audit_secrets (account_id, kid, secret, created_at, shown_at)
    values (${made.accountId}, ${made.kid}, ${made.secret}, ${now}, ${made.shownAt})
    on conflict (account_id) where retired_at is null do nothing`;
  return count > 0;
}

/** Finds the secret of an account that signs; null if there is none. */
export async function findCurrent(sql: Queryable, accountId: number): Promise<StoredSecret | null> {
  const [row] = await sql<StoredSecret[]>`
    select ${columns(sql)} from audit_secrets where account_id = ${accountId} and retired_at is null`;
  return row ?? null;
}

/** Finds a secret of an account by its kid, also one that signs no more; null if there is none. */
export async function findByKid(sql: Queryable, accountId: number, kid: string): Promise<StoredSecret | null> {
  const [row] = await sql<StoredSecret[]>`
    select ${columns(sql)} from audit_secrets where account_id = ${accountId} and kid = ${kid}`;
  return row ?? null;
}

/** Lists the secrets of an account, newest first. */
export async function listSecrets(sql: Queryable, accountId: number): Promise<readonly StoredSecret[]> {
  return sql<StoredSecret[]>`
    select ${columns(sql)} from audit_secrets where account_id = ${accountId}
    order by created_at desc, retired_at desc nulls first, kid`;
}

/** Ends the signing of an account's secret. */
export async function retireCurrent(sql: Queryable, accountId: number, now: Date): Promise<void> {
  await sql`update audit_secrets set retired_at = ${now} where account_id = ${accountId} and retired_at is null`;
}

/** Notes that the secret that signs was shown. */
export async function markShown(sql: Queryable, accountId: number, now: Date): Promise<void> {
  await sql`update audit_secrets set shown_at = ${now} where account_id = ${accountId} and retired_at is null`;
}

function columns(sql: Queryable) {
  return sql`kid, secret, created_at as "createdAt", shown_at as "shownAt", retired_at as "retiredAt"`;
}
